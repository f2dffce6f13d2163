/* Loaded into a program that is measured: writes what it took to file descriptor 3 when it ends. */
const { writeSync } = require('node:fs');

process.on('exit', () => {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  writeSync(3, JSON.stringify({ seconds: (userCPUTime + systemCPUTime) / 1e6, mebibytes: maxRSS / 1024 }));
});
