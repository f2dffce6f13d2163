/*! The machine that an executable is for, according to its header. */
import { closeSync, openSync, readSync } from 'node:fs';

/** A format of executables and a processor. */
export type Machine = 'ELF x86-64' | 'ELF arm64' | 'Mach-O x86-64' | 'Mach-O arm64';

/** The first four bytes, and where the processor is named by which number (elf.h, mach/machine.h). */
const FORMATS: { magic: number; offset: number; processors: Readonly<Record<number, Machine>> }[] = [
  { magic: 0x464c457f, offset: 18, processors: { 62: 'ELF x86-64', 183: 'ELF arm64' } },
  { magic: 0xfeedfacf, offset: 4, processors: { 7: 'Mach-O x86-64', 12: 'Mach-O arm64' } },
];

/** The machine that an executable is for; undefined for other machines and other files. */
export function machineOf(path: string): Machine | undefined {
  const header = Buffer.alloc(20);
  const file = openSync(path, 'r');
  readSync(file, header);
  closeSync(file);
  const format = FORMATS.find(({ magic }) => magic === header.readUInt32LE());
  return format?.processors[header.readUInt16LE(format.offset)];
}
