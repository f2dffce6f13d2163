/*! Ends a server with the test that has started it, however that ends: with it, its end of the server's standard input closes. */
process.stdin
  .on('end', () => process.kill(process.pid))
  .resume()
  .unref();
