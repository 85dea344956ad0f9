# The referee on the processor. Build: docker build -t vision-referee .
# Run:   docker run --rm -v "$PWD:/work" vision-referee analyze match.mp4 --rules american --out evening
# Pages: docker run --rm -p 8000:8000 -e VISION_REFEREE_TOKEN=… -v "$PWD:/work" vision-referee review evening --host 0.0.0.0 --no-browser
FROM python:3.11-slim-bookworm AS build

WORKDIR /src
RUN pip install --no-cache-dir build==1.2.2
COPY pyproject.toml README.md LICENSE CHANGELOG.md ARCHITECTURE.md ./
COPY vision_referee ./vision_referee
COPY models ./models
COPY calibration ./calibration
RUN python -m build --wheel --outdir /wheel

FROM python:3.11-slim-bookworm

# libgl1 and libglib2.0-0 are what opencv-python loads. Debian keeps no older versions to pin.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends libgl1 libglib2.0-0 \
    && rm -rf /var/lib/apt/lists/*
COPY --from=build /wheel /wheel
# PyTorch comes with ultralytics; its build for the processor is a tenth of the one for GPUs. What versions fit, the
# wheel says.
ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu
# hadolint ignore=DL3013
RUN pip install --no-cache-dir --extra-index-url "${TORCH_INDEX}" torch torchvision \
    && pip install --no-cache-dir /wheel/*.whl \
    && rm -rf /wheel \
    && useradd --create-home --uid 1000 referee
ENV YOLO_OFFLINE=true \
    YOLO_CONFIG_DIR=/tmp/ultralytics \
    MPLCONFIGDIR=/tmp/matplotlib \
    PYTHONUNBUFFERED=1
USER 1000
WORKDIR /work
EXPOSE 8000
HEALTHCHECK NONE
ENTRYPOINT ["vision-referee"]
CMD ["--help"]
