/** Programs have no exports: to load one is to run it on the process's arguments. */
declare module '@sqlpipe/sql*';
