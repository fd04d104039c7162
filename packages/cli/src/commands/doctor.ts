import type { DoctorCheck } from '@florin/server/operator';
import type { Command } from 'commander';
import { type DatabaseFlags, databaseCommand } from '../operator.ts';
import { withServer } from '../server.ts';
import { print, toJson, wantsJson } from '../show.ts';
import { cell } from '../table.ts';

const MARKS: Record<DoctorCheck['status'], string> = { ok: 'ok', warning: 'warning', failed: 'FAILED' };
const CHECK_WIDTH = 12;
const MARK_WIDTH = 9;

/** A line for what was found, and one for what to do. */
function linesOf({ check, status, found, advice }: DoctorCheck): string[] {
  const begin = `${check.padEnd(CHECK_WIDTH)}${MARKS[status].padEnd(MARK_WIDTH)}`;
  return [
    `${begin}${cell(found)}`,
    ...(advice === null ? [] : [`${' '.repeat(begin.length)}${cell(advice)}`]),
  ];
}

export function addDoctor(program: Command): void {
  databaseCommand(program, 'doctor', ['florin doctor', 'florin doctor --data-dir /srv/florin --json'])
    .description('Look at all that a start needs; exit code 1 where something has to be mended')
    .option('--port <port>', 'as it is given to florin start (FLORIN_PORT)')
    .option('--host <address>', 'as it is given to florin start (FLORIN_HOST)')
    .action(async (flags: DatabaseFlags & { port?: string; host?: string }, command: Command) => {
      const checks = await withServer(async (server) => {
        const config = server.readConfig(server.processEnvironment(), { ...flags }, { logLevel: 'error' });
        return await server.examine(config);
      });
      print(wantsJson(command) ? toJson(checks) : checks.flatMap(linesOf).join('\n'));
      if (checks.some(({ status }) => status === 'failed')) process.exitCode = 1;
    });
}
