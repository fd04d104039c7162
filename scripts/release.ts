// Makes, checks and publishes the packages: `npm run release -- --dry-run` says what would be published.
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { makeFlorin, makeSdk, makeSigner } from './packages.ts';
import { findObstacles } from './release-rules.ts';
import { execute, ROOT } from './step.ts';

const HELP = `npm run release [-- --dry-run]

Makes the packages, checks versions, changelog and contents, and publishes them to npm, the command last.

  --dry-run   publishes nothing, and prints what it would
`;

interface Packed {
  id: string;
  size: number;
  unpackedSize: number;
  files: { path: string; size: number }[];
}

function readWords() {
  try {
    const options = { 'dry-run': { type: 'boolean' }, help: { type: 'boolean' } } as const;
    return parseArgs({ options }).values;
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${HELP}`);
    process.exit(2);
  }
}

const words = readWords();
if (words.help === true) {
  console.log(HELP);
  process.exit();
}
const isDry = words['dry-run'] === true;

const kB = (bytes: number) => `${(bytes / 1000).toFixed(1)} kB`;
const manifests = globSync('packages/*/package.json', { cwd: ROOT }).map((file) =>
  JSON.parse(readFileSync(path.join(ROOT, file), 'utf8')),
);
const versions = new Map(manifests.map(({ name, version }): [string, string] => [name, version]));
const folders = [await makeSdk(), await makeSigner(), await makeFlorin()];
const findings: string[] = [];
for (const folder of folders) {
  const manifest = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'));
  const { messages } = await publint({ pkgDir: folder });
  findings.push(...messages.map((one) => `${manifest.name}: ${formatMessage(one, manifest)}`));
  const { ok, stdout } = await execute('npm', ['pack', '--dry-run', '--json', folder], { quiet: true });
  const [packed]: Packed[] = ok ? JSON.parse(stdout) : [];
  if (packed === undefined) {
    findings.push(`${manifest.name}: npm cannot pack it`);
    continue;
  }
  console.log(`\n${packed.id}: ${kB(packed.size)}, ${kB(packed.unpackedSize)} unpacked`);
  for (const file of packed.files) console.log(`  ${kB(file.size).padStart(10)}  ${file.path}`);
}
const { stdout: changed } = await execute('git', ['status', '--porcelain'], { quiet: true });
const uncommitted = changed.split('\n').flatMap((line) => (line === '' ? [] : [line.slice(3)]));
const changelog = readFileSync(path.join(ROOT, 'CHANGELOG.md'), 'utf8');
const obstacles = findObstacles({ versions, changelog, uncommitted, findings });
for (const line of obstacles) console.error(`\nnot ready: ${line}`);
if (obstacles.length > 0) process.exit(1);
for (const folder of folders) {
  const { ok } = await execute('npm', [
    'publish',
    '--access',
    'public',
    ...(isDry ? ['--dry-run'] : []),
    folder,
  ]);
  if (!ok) process.exit(1);
}
