# The rows of tests/integration/refused.sh for quantum_transport: commands, text, settings.
# shellcheck shell=bash disable=SC2154

both=run,describe

# Energies and wave vectors.
refused "$both" 'energy.min 2 eV is not below energy.max 1 eV' energy.min=2 energy.max=1
refused "$both" 'energy.min 1 eV is not below energy.max 1 eV' energy.min=1 energy.max=1
refused "$both" 'energy.points: 0 is outside' energy.points=0
refused "$both" 'energy.shift: -1 is outside' energy.shift=-1
refused "$both" 'energy.tolerance: 2 is outside' energy.tolerance=2
refused "$both" 'energy.max_points: 1 is outside' energy.max_points=1
refused "$both" 'energy.min is -1 eV: of phonons it is hbar omega, above 0' 'device={harmonic_chain: {}}' energy.min=-1
refused "$both" 'k.ny is 3, but the device is not periodic along y: give 1' k.ny=3
refused "$both" 'k.nz is 2, but the device is not periodic along z: give 1' k.nz=2

# The leads.
refused "$both" 'lead.method: guess is not one of decimation|modes|contour' lead.method=guess
refused "$both" 'lead.eta: -1 is outside' lead.eta=-1
refused "$both" 'contact.difference 700 K is more than twice contact.temperature 300 K' 'device={harmonic_chain: {}}' energy.min=0.01 contact.difference=700
refused "$both" 'contact.temperature: -1 is outside' contact.temperature=-1

# Scattering.
chain='device={chain: {sites: 20}}' phonons='scattering.phonons.device={harmonic_chain: {sites: 20}}'
refused "$both" 'scattering.kind: some is not one of none|born' scattering.kind=some
refused "$both" 'scattering.mixing: 0 is outside' scattering.mixing=0
refused "$both" 'scattering.phonons.device is empty: name the same device as phonons' scattering.kind=born
refused "$both" 'scattering.kind: the device has phonons' 'device={harmonic_chain: {}}' energy.min=0.01 scattering.kind=born
refused "$both" 'scattering.phonons.device: chain is unknown' "$chain" scattering.kind=born 'scattering.phonons.device=chain'
refused "$both" 'energy.points: scattering needs at least 2 energies' "$chain" scattering.kind=born "$phonons" energy.points=1 energy.min=0 energy.max=0.1
refused "$both" 'has 9 atoms, the device 20' "$chain" scattering.kind=born 'scattering.phonons.device={harmonic_chain: {sites: 9}}'
refused "$both" 'is 0.5 Angstrom from that of the device along x' "$chain" scattering.kind=born 'scattering.phonons.device={harmonic_chain: {sites: 20, spacing: 1.5}}'
refused "$both" 'memory.budget: scattering does not keep to a budget' "$chain" scattering.kind=born "$phonons" memory.budget=100
refused "$both" 'only simple goes together with scattering.poisson: inside' "$chain" scattering.kind=born "$phonons" electrostatics.enabled=true scattering.method=anderson

# The device.
refused "$both" 'device: nothing is unknown' device=nothing
refused "$both" 'device.agnr.width is 1: dimers of one line are not connected' 'device={agnr: {width: 1}}'
refused "$both" 'device.chain.impurity_site' 'device={chain: {sites: 4, impurity_site: 40}}'
refused "$both" 'device.chain.hopping' 'device={chain: {hopping: 0}}'

# What a run may take.
refused "$both" 'memory.budget: ' memory.budget=0.001
refused "$both" 'memory.budget: -1 is outside' memory.budget=-1
refused "$both" 'memory.budget: 100 MiB do not hold three matrices of a cross-section of 1500 orbitals, 103 MiB' memory.budget=100 'device={square: {width: 1500, length: 2}}'
refused "$both" 'device.silicon_wire.{height, width}: a cross-section of 799980 orbitals, at most 32767' 'device={silicon_wire: {height: 100, width: 100}}'
refused "$both" 'device.agnr.{width}: a cross-section of 40000 orbitals' 'device={agnr: {width: 20000}}'
refused run 'MiB are predicted, this machine has' 'device={square: {width: 1000, length: 10}}' energy.points=10000000
accepted describe 'device={square: {width: 1000, length: 10}}' energy.points=10000000
refused "$both" 'parallel.slabs: 900 slabs of a device of' parallel.slabs=900
refused "$both" 'parallel.slabs: 0 is outside' parallel.slabs=0
refused "$both" 'parallel.ranks_per_point: 0 is outside' parallel.ranks_per_point=0
refused describe 'parallel.ranks_per_point: 900 ranks share a device of' parallel.ranks_per_point=900
refused run 'parallel.ranks_per_point: groups of 2 ranks cannot be made of 1' parallel.ranks_per_point=2
refused "$both" 'parallel.slab_error: 0 is outside' parallel.slab_error=0
refused "$both" 'checkpoint.keep: 0 is outside' checkpoint.keep=0
refused "$both" 'checkpoint.format: paper is not one of' checkpoint.format=paper
refused "$both" 'unknown' output.nothing=true

accepted run memory.budget=64
accepted run energy.points=1
