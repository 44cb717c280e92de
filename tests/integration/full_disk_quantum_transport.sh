# full_disk_quantum_transport.sh - the commands of quantum_transport, sourced by full_disk.sh.
tiny=(--config "$source/configs/quantum_transport/tiny.yaml" --set energy.points=300)

on_full run all run "${tiny[@]}"
# With a checkpoint after every batch of points: those that are whole stay.
on_full saving kept run "${tiny[@]}" --set output.bond_currents=true --set checkpoint.interval=0.000001
