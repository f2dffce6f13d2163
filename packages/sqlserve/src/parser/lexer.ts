/*! SQL text as the service cuts it into tokens; refusals and their positions follow from it. */
export { type ServerToken as Token, scanToken as scan } from '@sqlpipe/sql';
