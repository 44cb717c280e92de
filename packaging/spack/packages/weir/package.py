# NOT RUN: no Spack was at hand when this was written; names of packages and of variants are those of its documentation.
# spack repo add packaging/spack && spack install weir
from spack.package import *


class Weir(CMakePackage):
    """Scientific workflows on one core library: heart beats as a stream, ensemble forecasts,
    cosmological parameters, quantum transport."""

    homepage = "file:///opt/src/weir"  # the site sets where its sources are: spack edit weir
    git = "file:///opt/src/weir"

    version("0.1.0", tag="v0.1.0")

    variant("mpi", default=True, description="several ranks, and NetCDF files")
    variant("cuda", default=False, description="NVIDIA GPUs")
    variant("petsc", default=True, description="sparse solvers of quantum_transport")
    variant("grib", default=True, description="GRIB files, by ecCodes")
    variant("python", default=True, description="the Python package weir")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("libyaml")
    depends_on("openblas threads=openmp")
    depends_on("onednn@2 cpu_runtime=omp")
    depends_on("fftw")
    depends_on("dcmtk")
    depends_on("expat")
    depends_on("flac")
    depends_on("zlib-api")
    depends_on("mpi", when="+mpi")
    depends_on("netcdf-c +mpi", when="+mpi")
    depends_on("eccodes", when="+grib")
    depends_on("petsc@3.18: +complex", when="+petsc")
    depends_on("slepc", when="+petsc")
    depends_on("cuda@12:", when="+cuda")
    depends_on("python", when="+python", type="run")
    depends_on("py-numpy", when="+python", type="run")
    depends_on("py-netcdf4", when="+python", type="run")
    depends_on("py-xarray", when="+python", type="run")
    depends_on("py-pandas", when="+python", type="run")

    def cmake_args(self):
        args = [
            self.define("WEIR_TESTS", False),
            self.define("WEIR_WITH_CUDA", "ON" if self.spec.satisfies("+cuda") else "OFF"),
            self.define("WEIR_WITH_MPI", "ON" if self.spec.satisfies("+mpi") else "OFF"),
            self.define("WEIR_WITH_NETCDF", "AUTO" if self.spec.satisfies("+mpi") else "OFF"),
            self.define("WEIR_WITH_PETSC", "ON" if self.spec.satisfies("+petsc") else "OFF"),
            self.define("WEIR_WITH_SLEPC", "ON" if self.spec.satisfies("+petsc") else "OFF"),
            self.define("WEIR_WITH_ECCODES", "ON" if self.spec.satisfies("+grib") else "OFF"),
        ]
        if self.spec.satisfies("+cuda"):
            args.append(self.define("WEIR_CUDA_ROOT", self.spec["cuda"].prefix))
        return args

    def setup_run_environment(self, env):
        env.prepend_path("PYTHONPATH", self.prefix.lib.weir.python)
