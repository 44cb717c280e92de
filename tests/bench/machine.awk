# machine.awk - the kind of processor, as floors.csv names machines: awk -f machine.awk /proc/cpuinfo. What is not in the table is
# named by vendor, family and model.
function value() { sub(/^[^:]*: */, ""); return $0 }
/^vendor_id/ && vendor == "" { vendor = value() }
/^cpu family/ && family == "" { family = value() + 0 }
/^model[\t ]*:/ && model == "" { model = value() + 0 }
function amd() {
  if (family == 26) return "Zen 5"
  if (family == 25) return (model >= 16 && model < 32) || (model >= 96 && model < 128) || (model >= 160 && model < 176) ? "Zen 4" : "Zen 3"
  return family == 23 && model >= 48 ? "Zen 2" : ""
}
function intel() {
  return family != 6 ? "" : model == 85 ? "Skylake" : model == 106 || model == 108 ? "Ice Lake" : model == 143 ? "Sapphire Rapids" : \
    model == 207 ? "Emerald Rapids" : model == 173 || model == 174 ? "Granite Rapids" : ""
}
END {
  name = vendor == "AuthenticAMD" ? amd() : vendor == "GenuineIntel" ? intel() : ""
  print name != "" ? name : vendor != "" ? vendor " " family "/" model : "unknown"
}
