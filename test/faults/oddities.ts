/*! Answers of a source that are unusual, and good all the same. */
import { type Answer, chunk, head, LAST_CHUNK, reply, sends } from './faulty-server.js';
import { A, B, ROWS, raw, says } from './sources.js';

/** Answers 429 once, asking to come back as `retryAfter` says, and then well. */
const busyOnce = (retryAfter: () => string): Answer => {
  let asked = 0;
  return socket => {
    if (asked++ === 0) socket.end(reply('', 429, `Retry-After: ${retryAfter()}`));
    else socket.write(reply(ROWS));
  };
};

export const sourceOddities: { name: string; answer: Answer }[] = [
  {
    name: 'a body that trickles a byte at a time',
    async answer(socket) {
      for (const byte of Buffer.concat([head(), chunk(ROWS), LAST_CHUNK])) {
        socket.write(Buffer.of(byte));
        await new Promise(setImmediate);
      }
    },
  },
  {
    name: 'other keys, columns, order and white space',
    answer: says(
      ` { "count" : 2 , "x" : { "error" : [ { } ] } , "dataset" : [ [ ${JSON.stringify(A)} , 1 , null , [ "x" ] ] ,\n[ ${JSON.stringify(B)} ] ] } \n`,
    ),
  },
  {
    name: 'a row that is in many chunks, and a cookie',
    answer: sends(
      Buffer.concat([
        head(200, 'Content-Type: application/json\r\nSet-Cookie: qdb_session=x'),
        ...Array.from(Buffer.from(ROWS), byte => chunk(Buffer.of(byte))),
        LAST_CHUNK,
      ]),
    ),
  },
  { name: 'a Content-Length', answer: sends(raw(`200 OK\r\nContent-Length: ${ROWS.length}`, ROWS)) },
  {
    name: 'columns and timestamp behind the rows, and more columns in each',
    answer: says(
      `{"dataset":[[${JSON.stringify(A)},"x",{"y":[]}],[${JSON.stringify(B)},-1.5e-3,false]],"count":2,"timestamp":-1,"columns":[{"name":"ddl","type":"VARCHAR"},{"name":"x"}],"timings":{"count":9}}`,
    ),
  },
  { name: 'characters as escapes', answer: says(ROWS.replaceAll('T', '\\u0054')) },
  { name: '103, early hints', answer: sends(Buffer.concat([raw('103 Early Hints\r\nLink: x'), reply(ROWS)])) },
  {
    name: 'a trailer behind the body',
    answer: sends(Buffer.concat([head(), chunk(ROWS), Buffer.from('0\r\nX: y\r\n\r\n')])),
  },
  { name: '429, and a number of seconds', answer: busyOnce(() => '1') },
  { name: '429, and a date', answer: busyOnce(() => new Date(Date.now() + 2000).toUTCString()) },
  { name: 'a body that ends with the connection', answer: socket => socket.end(`HTTP/1.0 200 OK\r\n\r\n${ROWS}`) },
];
