# All programs in one image:
#
#   docker build -t sqlpipe .
#   docker run --rm --init -e SQLDUMP_TOKEN sqlpipe sqldump https://db.example.com > schema.stream

FROM node:24-slim AS build
WORKDIR /sqlpipe
COPY . .
RUN npm ci && npm run build && npx tsx scripts/package.ts

FROM node:24-slim
RUN --mount=type=bind,from=build,source=/sqlpipe/dist,target=/dist \
    npm install --global --offline /dist/sqlpipe-*.tgz
USER node
CMD ["sqldump", "--help"]
