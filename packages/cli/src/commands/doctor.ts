import type { DoctorCheck, LiveCheck } from '@florin/server/operator';
import { Argument, type Command } from 'commander';
import { type DatabaseFlags, databaseCommand } from '../operator.ts';
import { withServer } from '../server.ts';
import { print, toJson, wantsJson } from '../show.ts';
import { cell } from '../table.ts';

type Check = DoctorCheck | LiveCheck;

const MARKS: Record<Check['status'], string> = {
  ok: 'ok',
  warning: 'warning',
  failed: 'FAILED',
  missing: 'MISSING',
  open: 'open',
};
const CHECK_WIDTH = 14;
const MARK_WIDTH = 9;

/** A line for what was found, and one for what to do. */
function linesOf({ check, status, found, advice }: Check): string[] {
  const begin = `${check.padEnd(CHECK_WIDTH)}${MARKS[status].padEnd(MARK_WIDTH)}`;
  return [
    `${begin}${cell(found)}`,
    ...(advice === null ? [] : [`${' '.repeat(begin.length)}${cell(advice)}`]),
  ];
}

type Flags = DatabaseFlags & { port?: string; host?: string };

const LIVE = new Argument('[what]', 'live: what is missing before the first payment of real money').choices([
  'live',
]);

export function addDoctor(program: Command): void {
  databaseCommand(program, 'doctor', [
    'florin doctor',
    'florin doctor --data-dir /srv/florin --json',
    'florin doctor live                     # before the first payment of real money',
  ])
    .addArgument(LIVE)
    .description('Look at all that a start needs; exit code 1 where something has to be mended')
    .option('--port <port>', 'as it is given to florin start (FLORIN_PORT)')
    .option('--host <address>', 'as it is given to florin start (FLORIN_HOST)')
    .action(async (what: 'live' | undefined, flags: Flags, command: Command) => {
      const checks: readonly Check[] = await withServer(async (server) => {
        const config = server.readConfig(server.processEnvironment(), { ...flags }, { logLevel: 'error' });
        return what === 'live' ? await server.examineLive(config) : await server.examine(config);
      });
      print(wantsJson(command) ? toJson(checks) : checks.flatMap(linesOf).join('\n'));
      if (checks.some(({ status }) => status === 'failed' || status === 'missing')) process.exitCode = 1;
    });
}
