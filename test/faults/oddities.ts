/*! Replies of a source that are unusual, but valid. */
import { type Answer, chunk, head, LAST_CHUNK, reply, replying, send } from './faulty-server.js';
import { A, B, ROWS, raw } from './sources.js';

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
    answer: replying(
      ` { "count" : 2 , "x" : { "error" : [ { } ] } , "dataset" : [ [ ${JSON.stringify(A)} , 1 , null , [ "x" ] ] ,\n[ ${JSON.stringify(B)} ] ] } \n`,
    ),
  },
  {
    name: 'a row in many chunks, and a cookie',
    answer: send(
      Buffer.concat([
        head(200, 'Content-Type: application/json\r\nSet-Cookie: qdb_session=x'),
        ...Array.from(Buffer.from(ROWS), byte => chunk(Buffer.of(byte))),
        LAST_CHUNK,
      ]),
    ),
  },
  { name: 'a Content-Length', answer: send(raw(`200 OK\r\nContent-Length: ${ROWS.length}`, ROWS)) },
  {
    name: 'columns and timestamp after the rows, and more columns in each row',
    answer: replying(
      `{"dataset":[[${JSON.stringify(A)},"x",{"y":[]}],[${JSON.stringify(B)},-1.5e-3,false]],"count":2,"timestamp":-1,"columns":[{"name":"ddl","type":"VARCHAR"},{"name":"x"}],"timings":{"count":9}}`,
    ),
  },
  { name: 'characters as escapes', answer: replying(ROWS.replaceAll('T', '\\u0054')) },
  { name: '103, early hints', answer: send(Buffer.concat([raw('103 Early Hints\r\nLink: x'), reply(ROWS)])) },
  {
    name: 'a trailer after the body',
    answer: send(Buffer.concat([head(), chunk(ROWS), Buffer.from('0\r\nX: y\r\n\r\n')])),
  },
  { name: 'a body that ends with the connection', answer: socket => socket.end(`HTTP/1.0 200 OK\r\n\r\n${ROWS}`) },
];
