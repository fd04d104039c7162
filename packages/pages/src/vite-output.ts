import type { build, Rolldown } from 'vite';

/** The files of a build that makes one output and does not watch. @throws Error for any other */
export function outputOf(built: Awaited<ReturnType<typeof build>>): Rolldown.RolldownOutput['output'] {
  if (Array.isArray(built) || !('output' in built)) throw new Error('a build must have one output');
  return built.output;
}
