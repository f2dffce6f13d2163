# All programs in one image:
#
#   docker build -t sqlpipe .
#   docker run --rm --init -e SQLDUMP_TOKEN sqlpipe sqldump https://db.example.com > schema.stream

FROM node:24-slim AS build
WORKDIR /sqlpipe
COPY . .
RUN npm ci && npm run build
# A program is two files: what starts it, and all the rest.
RUN mkdir -p /out/opt/sqlpipe /out/usr/local/bin && \
    cp --parents LICENSE packages/*/bin/*.js packages/*/dist/main.js /out/opt/sqlpipe && \
    for bin in packages/*/bin/*.js; do \
      ln -s "/opt/sqlpipe/$bin" "/out/usr/local/bin/$(basename "$bin" .js)"; \
    done

FROM node:24-slim
COPY --from=build /out /
USER node
CMD ["sqldump", "--help"]
