"""Metadata, package data, TensorBoard's entry point and the console script. Nothing clever."""

import re
from pathlib import Path

from setuptools import find_packages, setup

HERE = Path(__file__).parent


def read_version() -> str:
    """The version in base/names.py, read as text: importing the package to build it would need what it requires."""
    text = (HERE / "tb_shapeplugin/base/names.py").read_text(encoding="utf-8")
    found = re.search(r'^VERSION = "([^"]+)"$', text, re.MULTILINE)
    if found is None:
        raise RuntimeError('tb_shapeplugin/base/names.py has no line VERSION = "…". Write one.')
    return found[1]


def read_readme() -> str:
    """README.md, what the package's page shows; empty where a partial checkout has none."""
    readme = HERE / "README.md"
    return readme.read_text(encoding="utf-8") if readme.exists() else ""


TORCH = ["torch>=2.4"]
ONNX = ["onnx>=1.16"]

setup(
    name="tb-shapeplugin",
    version=read_version(),
    description="A TensorBoard plugin that shows every shape of a PyTorch model, and why a forward failed.",
    long_description=read_readme(),
    long_description_content_type="text/markdown",
    license="Apache-2.0",
    license_files=["LICENSE", "THIRD_PARTY_NOTICES"],
    python_requires=">=3.10",
    install_requires=["tensorboard>=2.16", "protobuf>=3.20.3", "numpy"],
    extras_require={"torch": TORCH, "onnx": ONNX, "all": TORCH + ONNX},
    packages=find_packages(include=["tb_shapeplugin", "tb_shapeplugin.*"]),
    package_data={
        "tb_shapeplugin": ["py.typed", "__init__.pyi"],
        "tb_shapeplugin.wire": ["record.binpb"],
        "tb_shapeplugin.serve": ["static/*"],
    },
    zip_safe=False,
    entry_points={
        "tensorboard_plugins": ["shapes = tb_shapeplugin.serve.loader:ShapesLoader"],
        "console_scripts": ["tb-shapes = tb_shapeplugin.cli.main:main"],
    },
    classifiers=[
        "Development Status :: 3 - Alpha",
        "Environment :: Web Environment",
        "Intended Audience :: Developers",
        "Intended Audience :: Science/Research",
        "Operating System :: POSIX :: Linux",
        "Programming Language :: Python :: 3",
        "Programming Language :: Python :: 3 :: Only",
        "Programming Language :: Python :: 3.10",
        "Programming Language :: Python :: 3.11",
        "Topic :: Scientific/Engineering :: Artificial Intelligence",
        "Topic :: Scientific/Engineering :: Visualization",
        "Typing :: Typed",
    ],
)
