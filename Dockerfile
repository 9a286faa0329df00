# Node and the bundle, and nothing else: no shell, no package manager. Everything is put together on the machine that builds, also
# for another architecture: only what fills the compile cache is emulated then.
# Nothing of this base is in the image, but it runs the build: whoever publishes the image adds the digest that they have checked.
FROM --platform=$BUILDPLATFORM docker.io/library/node:24-slim AS build
WORKDIR /source
COPY package.json package-lock.json .npmrc ./
# The bundler has its binary among the optional packages, so none is left out.
RUN npm ci --ignore-scripts
COPY . .
RUN node scripts/build.ts /app
# Node in the version that package-lock.json pins, and the libraries that it is linked with.
ARG TARGETARCH
RUN node scripts/build/image.ts /image "$TARGETARCH"
# Compiled code is kept for each user, and is found by the path of its file.
RUN install -d -o 65532 -g 65532 /cache
USER 65532:65532
RUN HOME=/tmp node scripts/build/warm-up.ts /app /image /cache "$TARGETARCH"
USER 0:0
# Of the two folders that anybody may write, one keeps the state.
RUN install -d /image/etc /image/var/lib \
 && cp -a /app /cache /image/ \
 # Whoever could write compiled code would decide what runs.
 && chown -R 0:0 /image/app /image/cache && chmod -R a+rX,go-w /image/app /image/cache \
 && install -d -m 1777 /image/tmp \
 && install -d -o 65532 -g 65532 -m 0750 /image/var/lib/automation-exporter \
 && echo 'exporter:x:65532:65532::/var/lib/automation-exporter:/nonexistent' > /image/etc/passwd \
 && echo 'exporter:x:65532:' > /image/etc/group

FROM scratch
ARG VERSION=1.0.0
ARG REVISION=unknown
ARG CREATED=unknown
ARG SOURCE=unknown
LABEL org.opencontainers.image.title="automation-exporter" \
      org.opencontainers.image.description="Prometheus exporter and OpenTelemetry tracer for Rundeck" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$REVISION" \
      org.opencontainers.image.created="$CREATED" \
      org.opencontainers.image.source="$SOURCE" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY --from=build /image /
ENV PATH=/usr/local/bin \
    HOME=/tmp \
    NODE_ENV=production \
    NODE_COMPILE_CACHE=/cache \
    AUTOMATION_EXPORTER_STATE_DIR=/var/lib/automation-exporter \
    HEALTH_URL=http://127.0.0.1:9720/-/healthy
WORKDIR /app
USER 65532:65532
# The only place it writes to: everything else may be mounted read-only.
VOLUME /var/lib/automation-exporter
EXPOSE 9720

# Set HEALTH_URL where the daemon listens elsewhere, has a route prefix or speaks TLS. One check takes 0.05 s of a processor.
HEALTHCHECK --interval=60s --timeout=5s --start-period=10s --retries=3 CMD ["node", "healthcheck.js"]

# Without the flag, a signal could open a debugger in the first moments.
ENTRYPOINT ["node", "--disable-sigusr1", "cli.js"]
# Named, so that a container without a configuration ends with a complaint instead of showing made-up numbers.
CMD ["serve"]
