/*! AVA's `test` for all files: the tests of a file run one after the other, and files run in parallel. */
import ava from 'ava';

export const test = ava.serial;
export const { macro } = ava;
