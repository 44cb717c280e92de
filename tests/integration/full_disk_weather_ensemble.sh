# full_disk_weather_ensemble.sh - the commands of weather_ensemble, sourced by full_disk.sh.
tiny=(--config "$source/configs/weather_ensemble/tiny.yaml" --set simulate.init_times=40 --set simulate.library.states=4
  --set simulate.spin_up=5 --set data.split.gap=2 --set data.split.train.to=2000-02-10 --set data.split.valid.from=2000-02-10
  --set data.split.valid.to=2000-03-01 --set data.split.test.from=2000-03-01)

make archives prepare "${tiny[@]}"
files=(--set "data.forecast=[base/archives/forecast.nc]" --set "data.truth=[base/archives/truth.nc]")
on_full prepare all prepare "${tiny[@]}"
on_full run kept run "${tiny[@]}" "${files[@]}" --set train.epochs=2 --set train.checkpoint.every=1
make weights run "${tiny[@]}" "${files[@]}" --set train.epochs=2
on_full predict all predict "${tiny[@]}" "${files[@]}" --set predict.weights=base/weights/weights.nc --set predict.part=test
on_full eval all eval "${tiny[@]}" "${files[@]}"
on_full import all prepare "${tiny[@]}" "${files[@]}" --set import.climate=true
