# full_disk_physio_stream.sh - the commands of physio_stream, sourced by full_disk.sh.
tiny=(--config "$source/configs/physio_stream/tiny.yaml")
short=(--set ecgsyn.duration=20)

make rec prepare "${tiny[@]}" "${short[@]}" --set ecgsyn.abp.on=true
make rec2 prepare "${tiny[@]}" "${short[@]}" --seed 2
on_full prepare all prepare "${tiny[@]}" "${short[@]}" --set ecgsyn.abp.on=true
on_full run all run "${tiny[@]}" --set input.record=base/rec/ecgsyn
on_full compare all compare "${tiny[@]}" --set rhythm.train=8 --set rhythm.valid=4 --set train.batch=4 --set train.epochs=1 --set scaling.ranks=[2] \
  --set scaling.runs=1 --set scaling.policies=[local]
make beats run "${tiny[@]}" --set input.record=base/rec/ecgsyn
on_full eval all eval "${tiny[@]}" --set eval.reference=base/rec/ecgsyn.atr --set eval.test=base/beats/ecgsyn.qrs
for format in netcdf wfdb csv; do
  on_full convert_$format all convert --set input.record=base/rec/ecgsyn --set convert.format=$format
done

streams=(--set 'query.streams=[{name: ecg, signal: ECG}]'
  --set 'query.steps=[{name: r, from: [ecg], do: {detect: {}}}, {name: rate, from: [r.rr], do: {hr: {beats: 8}}}]'
  --set 'query.outputs=[{stream: rate}, {stream: r.rr, format: netcdf}, {stream: r.beat, format: annotations}, {stream: ecg, format: wfdb}]')
on_full query all run "${streams[@]}" --set input.record=base/rec/ecgsyn
cp -r base/rec base/other && for f in base/other/ecgsyn.*; do mv "$f" "${f/ecgsyn/other}"; done
sed -i 's/ecgsyn/other/g' base/other/other.hea
on_full records parts run "${tiny[@]}" --set output.features=false \
  --set "input.records=[base/rec/ecgsyn, base/other/other]"

study=(--set site.min_cell=2 --set eval.start=0)
make north site prepare --set "site.records=[base/rec/ecgsyn, base/rec2/ecgsyn]"
on_full site_prepare all site prepare --set "site.records=[base/rec/ecgsyn, base/rec2/ecgsyn]"
on_full site_check all site check --set site.dataset=base/north
on_full site_stats all site stats "${study[@]}" --set site.dataset=base/north
on_full site_eval all site eval "${study[@]}" --set site.dataset=base/north --set site.approve=true
make report site eval "${study[@]}" --set site.dataset=base/north --set site.approve=true
on_full site_merge all site merge --set "site.reports=[base/report/site_report.jsonl]"
