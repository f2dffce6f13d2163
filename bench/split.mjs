/*! What a splitter from npm makes of a SQL file: its statements as records. */
import { readFileSync } from 'node:fs';
import { argv, stdout } from 'node:process';

const { splitQuery, postgreSplitterOptions } = (await import(argv[2])).default;
for (const statement of splitQuery(readFileSync(argv[3], 'utf8'), postgreSplitterOptions))
  stdout.write(`${statement}\0`);
