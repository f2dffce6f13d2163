declare module '@sqlpipe/sql*' {
  export const main: import('@sqlpipe/cli').Main;
}
