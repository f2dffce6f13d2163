/** Programs have no exports: loading one runs it on the arguments of the process. */
declare module '@sqlpipe/sql*';
