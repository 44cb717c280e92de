/* verb_prepare.c - imports files, or writes the built-in simulation as a file of samples. */
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "base/weir_signal.h"
#include "data/output.h"
#include "verbs.h"

static weir_status write_samples(wx_samples *s, wx_output *o, float *room)
{
  const wx_facts *f = wx_samples_get(s);

  for (int64_t i = 0; i < f->n; i++) {
    if (weir_stop_requested()) {
      return weir_fail(WEIR_ERR_STOPPED, "prepare: stopped at sample %lld of %lld", (long long)i,
                       (long long)f->n);
    }
    for (int side = 0; side < WX_SIDES; side++) {
      WEIR_TRY(wx_samples_read(s, (wx_side)side, i, room));
      WEIR_TRY(wx_output_write(o, side, i, room));
    }
    weir_progress("prepare", i + 1, f->n, "samples");
  }
  return WEIR_OK;
}

static weir_status write_file(const weir_cli *cli, wx_samples *s)
{
  const wx_facts *f = wx_samples_get(s);
  const wx_output_field field[WX_SIDES] = {
      {"x", "forecast, the analysis it began from, height of the ground", "x_channel",
       f->n_channels[WX_X], f->channel[WX_X]},
      {"y", "truth", "y_channel", f->n_channels[WX_Y], f->channel[WX_Y]},
  };
  char path[WX_PATH];
  float *room = NULL;
  wx_output o;
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_path_join(cli->out, "samples.nc", path, sizeof path));
  WEIR_TRY(wx_output_open(path, f, field, WX_SIDES, NULL, f->n, &o));
  WEIR_TRY_GOTO(weir_alloc(f->n_channels[WX_X] * f->cells, sizeof *room, (void **)&room), done);
  WEIR_TRY_GOTO(weir_netcdf_put_text(o.nc, WEIR_NETCDF_FILE, "source",
                                     "weather_ensemble prepare: simulated, see provenance.json"),
                done);
  WEIR_TRY_GOTO(write_samples(s, &o, room), done);
  WEIR_TRY_GOTO(wx_output_commit(&o), done);
  weir_event("prepare_end", WEIR_INT("samples", f->n), WEIR_TEXT("output", path));
  weir_info("prepare", "wrote %s: %lld samples", path, (long long)f->n);
done:
  weir_free(&room);
  wx_output_close(&o);
  return status;
}

weir_status wx_verb_prepare(const weir_cli *cli)
{
  weir_config *config = NULL;
  wx_samples *s = NULL;
  weir_status status = WEIR_OK;
  wx_cfg cfg;

  WEIR_TRY(wx_configure(cli, &cfg, &config));
  if (!weir_netcdf_available()) {
    status =
        weir_fail(WEIR_ERR_UNSUPPORTED,
                  "prepare writes NetCDF, which this build does not have: install the library "
                  "and build again; run, check and describe use the simulation without a file");
    goto done;
  }
  WEIR_TRY_GOTO(weir_run_dir_open(cli, config, "prepare"), done);
  wx_tell_start(cli, &cfg);
  if (cfg.data.forecast.count > 0 || cfg.data.truth.count > 0) {
    WEIR_TRY_GOTO(wx_prepare_import(cli, &cfg), done);
    goto done;
  }
  WEIR_TRY_GOTO(wx_samples_open("", true, &cfg.simulate, (uint64_t)cfg.seed, &s), done);
  WEIR_TRY_GOTO(write_file(cli, s), done);
  WEIR_TRY_GOTO(wx_write_provenance(cli, &cfg, NULL, 0), done);
done:
  wx_samples_close(&s);
  weir_config_destroy(&config);
  return status;
}
