/*! AVA's `test`, as all files use it: the tests of a file run one after the other, files side by side. */
import ava from 'ava';

export const test = ava.serial;
export const { macro } = ava;
