import { setTimeout as sleep } from 'node:timers/promises';
import { residentMegabytes } from '../procfs.ts';
import { machineMs } from '../queue/queues.ts';
import type { Findings, RunOptions } from '../rows.ts';
import { median, short } from '../statistics.ts';
import type { CommandTimes } from './commands.ts';
import { type PackagedSandbox, packagedProgram } from './packaged.ts';
import { type SandboxPlace, withSandboxPlace } from './premises.ts';

/**
 * Measures the package that is installed: rows 12a (start on existing data), 12b (memory while nobody calls), 12d and 12e
 * (commands beside it). A remark says what start and memory take from sources.
 */
export async function runStart(_server: unknown, options: RunOptions): Promise<Findings> {
  return await withSandboxPlace(options, (place) => measure(place, options));
}

interface Measured {
  /** Until ready. */
  seconds: number;
  /** Resident memory, `idleMs` after the process was ready. */
  megabytes: number;
}

const text = ({ seconds, megabytes }: Measured) => `${short(seconds)} s and ${short(megabytes)} MB`;

async function measureStart(
  start: () => Promise<PackagedSandbox>,
  idleMs: number,
  whileIdle = async () => {},
): Promise<Measured> {
  const startMs = machineMs();
  const sandbox = await start();
  await sleep(idleMs);
  const megabytes = residentMegabytes(sandbox.pid);
  await whileIdle();
  await sandbox.stop();
  return { seconds: (sandbox.readyMs - startMs) / 1000, megabytes };
}

async function measure(place: SandboxPlace, { rounds, quick, log }: RunOptions): Promise<Findings> {
  const idleMs = quick ? 8_000 : 15_000;
  const program = await packagedProgram();
  const first = await measureStart(() => place.start(), 0);
  // Compiles the package's code once, as the first start after an installation does.
  await measureStart(() => place.startPackaged(program), 0);
  const packaged: Measured[] = [];
  const sources: Measured[] = [];
  const commands: CommandTimes[] = [];
  const measureCommands = async () => void commands.push(await place.measureCommands(program));
  for (let round = 1; round <= rounds; round++) {
    const ofPackage = await measureStart(() => place.startPackaged(program), idleMs, measureCommands);
    const ofSources = await measureStart(() => place.start(), idleMs);
    packaged.push(ofPackage);
    sources.push(ofSources);
    log(`  round ${round}/${rounds} start: package ${text(ofPackage)}, sources ${text(ofSources)}`);
  }
  const middle = {
    seconds: median(sources.map(({ seconds }) => seconds)),
    megabytes: median(sources.map(({ megabytes }) => megabytes)),
  };
  return {
    results: [
      { row: '12a', values: packaged.map(({ seconds }) => seconds) },
      { row: '12b', values: packaged.map(({ megabytes }) => megabytes) },
      { row: '12d', values: commands.map(({ helpSeconds }) => helpSeconds) },
      { row: '12e', values: commands.map(({ operatorSeconds }) => operatorSeconds) },
    ],
    remarks: [
      `Start and memory are those of the package \`florin\`; from sources they are ${text(middle)}. The very first start, ` +
        `which makes database and sandbox, took ${short(first.seconds)} s from sources. Memory is resident memory ` +
        `${idleMs / 1000} s after the start.`,
    ],
  };
}
