import { createProgram } from './program.ts';
import { runProgram } from './run-program.ts';

/** Runs one command line of `florin`. */
export const run = (words: readonly string[]): Promise<void> => runProgram(createProgram, words);
