/* born_size.c - see born.h: what an iteration takes. */
#include "model/scattering/born_priv.h"

/* Flops of the operators of a graph. */
static double flops_of(const weir_graph *g)
{
  double flops = 0;

  for (int32_t n = 0; n < weir_graph_nodes(g); n++) {
    flops += weir_node_traffic(g, n, 1, NULL).flops;
  }
  return flops;
}

static double bytes_of(const born_job *j)
{
  double bytes = 0;

  for (int i = 0; i < QT_SELF_ENERGY_ARRAYS; i++) {
    if (born_has(j, (qt_self_energy_array)i)) {
      const weir_array_desc d = qt_self_energy_desc(&j->self.spec, (qt_self_energy_array)i);

      bytes += (double)weir_desc_bytes(&d) * (born_mixes((qt_self_energy_array)i) ? 2 : 1);
    }
  }
  return bytes;
}

weir_status qt_born_size_of(const qt_born_spec *s, qt_born_size *out)
{
  born_job j = {.spec = s};
  weir_graph *g = NULL;
  weir_status status = WEIR_OK;

  *out = (qt_born_size){.n_pairs = 0};
  WEIR_TRY(born_check(s));
  WEIR_TRY(
      qt_neighbours_create(s->electrons, s->gradient, s->phonons->atom[0].n_orbitals, &j.list));
  j.self.spec = born_self_energy(&j);
  WEIR_TRY_GOTO(qt_self_energy_graph(&j.self.spec, &g), done);
  out->bytes = bytes_of(&j);
  out->self_energy_flops = flops_of(g);
  for (int64_t i = 0; i < j.list.n_atoms * j.list.n_neighbours; i++) {
    out->n_pairs +=
        qt_neighbours_is_pair(&j.list, i / j.list.n_neighbours, i % j.list.n_neighbours);
  }
done:
  weir_graph_destroy(&g);
  qt_neighbours_fini(&j.list);
  return status;
}
