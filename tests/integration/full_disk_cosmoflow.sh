# full_disk_cosmoflow.sh - the commands of cosmoflow, sourced by full_disk.sh.
tiny=(--config "$source/configs/cosmoflow/tiny.yaml" --set simulate.universes=8 --set simulate.file=2 --set simulate.side=16
  --set simulate.particles=16 --set data.split.valid=2 --set data.split.test=2)

make universes prepare "${tiny[@]}"
on_full prepare kept prepare "${tiny[@]}"
on_full run kept run "${tiny[@]}" --set "source.input=[base/universes]" --set train.epochs=2
make weights run "${tiny[@]}" --set "source.input=[base/universes]" --set train.epochs=1
on_full compare all compare "${tiny[@]}" --set "source.input=[base/universes]" --set train.epochs=1 --set scaling.ranks=[2] --set scaling.runs=1 \
  --set scaling.policies=[local] --set scaling.compute_s=0.01
on_full predict all predict base/universes --set predict.weights=base/weights/weights.nc
make said predict base/universes --set predict.weights=base/weights/weights.nc
on_full eval all eval "${tiny[@]}" \
  --set "eval.sets=[{name: test, predictions: base/said/predictions.nc, truth: [base/universes]}]"
on_full power all power base/universes
for format in netcdf tfrecord npy; do
  on_full convert_$format kept convert base/universes --set convert.format=$format
done
