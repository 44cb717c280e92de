#!/usr/bin/env bash
# cosmoflow_shared.sh COSMOFLOW ROOT RANKS_SH: universes, samples and files that ranks share are those of one process, also after an
# interruption.
set -u
program=$1
root=$2
ranks=$3
. "$(dirname "$0")/script.sh"
. "$(dirname "$0")/shared.sh"
tiny=$root/configs/cosmoflow/tiny.yaml

# 9 universes in 5 files.
same_on_ranks universes prepare --config "$tiny" --set simulate.universes=9 --set simulate.file=2
universes=$work/universes-1
[ "$(grep -c "universes-.*nc$" "$work/universes-3/files.sha256")" = 5 ] && (cd "$work/universes-3" && sha256sum --quiet -c files.sha256 >"$work/log") ||
  fail "universes: not all files are listed"
grep -q '"name": "universes-00000002.nc"' "$work/universes-2/run-rank1.jsonl" || fail "the log of rank 1 does not list its file"

# A file is lost, one damaged: other ranks than those before make these two, and no other.
rm "$work/universes-2/universes-00000002.nc"
printf x >>"$work/universes-2/universes-00000006.nc"
on 3 prepare --config "$tiny" --set simulate.universes=9 --set simulate.file=2 --out "$work/universes-2" || fail "resumed universes"
grep -q '4 universes in 2 files; 3 files existed already' "$work/log" || fail "resumed universes: not two files"
diff <(results "$universes" | grep -v files.sha256) <(results "$work/universes-2" | grep -v files.sha256) >"$work/log" || fail "resumed universes: other results"
# --overwrite removes what other ranks wrote.
on 2 prepare --overwrite --config "$tiny" --set simulate.universes=2 --set simulate.file=2 --out "$work/universes-3" || fail "overwrite"
[ ! -e "$work/universes-3/universes-00000002.nc" ] && [ ! -e "$work/universes-3/run-rank2.jsonl" ] || fail "overwrite: files are left"

# Cubes of several samples in a file, and several files of a sample.
same_on_ranks cubes convert "$universes" --set convert.format=npy --set convert.side=8
same_on_ranks groups convert "$universes" --set convert.format=netcdf --set convert.per_file=12 --set convert.side=8
rm "$work/groups-2"/samples-00000012.nc
on 3 convert "$universes" --set convert.format=netcdf --set convert.per_file=12 --set convert.side=8 --out "$work/groups-2" || fail "resumed conversion"
diff <(results "$work/groups-1" | grep -v files.sha256) <(results "$work/groups-2" | grep -v files.sha256) >"$work/log" ||
  fail "resumed conversion: other results"
fails_on_ranks side 2 'convert.side' convert "$universes" --set convert.side=7

on 1 run --config "$tiny" --set "source.input=[$universes]" --set train.epochs=1 --out "$work/run" || fail "run"
same_on_ranks predicted predict "$universes" --set predict.weights="$work/run/weights.nc" --set predict.batch=2
sets="{name: a, predictions: $work/predicted-2/predictions.nc, truth: [$universes]}"
same_on_ranks scored eval --config "$tiny" --set "eval.sets=[$sets]"
same_on_ranks narrow eval --config "$tiny" --set "eval.sets=[$sets]" --set eval.features.moments=0 --set eval.part=train
fails_on_ranks weights 3 'no-such.nc' predict "$universes" --set predict.weights="$work/no-such.nc"
# A sample that only one rank reads is damaged: all ranks fail, with its name.
cp -r "$work/groups-1" "$work/broken"
rm "$work/broken/files.sha256"
truncate -s 4000 "$work/broken/samples-00000024.nc"
fails_on_ranks broken 3 'samples-00000024.nc' convert "$work/broken" --set convert.format=npy

# Segmentation: classes of voxels.
unet=(--config "$root/configs/cosmoflow/compare_unet.yaml" --set 'data.split={valid: 1, test: 2}' --set train.optim.schedule.warmup=0)
on 1 prepare "${unet[@]}" --set simulate.universes=7 --set simulate.file=7 --out "$work/volumes" || fail "volumes"
on 1 run "${unet[@]}" --set "source.input=[$work/volumes]" --set train.epochs=1 --set train.batch=2 --out "$work/segment" || fail "segment"
same_on_ranks classes predict "$work/volumes" --set predict.weights="$work/segment/weights.nc" --set predict.batch=2 --set predict.probabilities=true
same_on_ranks test predict "$work/volumes" --set predict.weights="$work/segment/weights.nc" --set predict.part=test
echo "universes, conversions, predictions and scores: the same on 1, 2 and 3 ranks"
