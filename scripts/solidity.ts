import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { execute, FAILED, PASSED, ROOT, type Step } from './step.ts';

const COMPILER = 'solc 0.8.37';

/** No digest of the sources' comments at the end of the bytecode: the same code gives the same bytes anywhere. */
const SETTINGS = {
  evmVersion: 'cancun',
  viaIR: true,
  optimizer: { enabled: true, runs: 10_000 },
  metadata: { bytecodeHash: 'none', appendCBOR: false },
};

const ARTIFACTS = 'contracts/artifacts';
const DIGESTS = `${ARTIFACTS}/digests.json`;

/** The ABIs of what the server calls; a package imports nothing from outside itself. */
const SERVER_COPY = 'packages/server/src/chains/evm/artifacts.ts';
const SERVER_CONTRACTS = ['BatchPayout', 'Sweeper'];

interface AbiParameter {
  name: string;
  type: string;
  indexed?: boolean;
  components?: AbiParameter[];
}

interface AbiEntry {
  type: string;
  name?: string;
  inputs?: AbiParameter[];
  outputs?: AbiParameter[];
  stateMutability?: string;
}

export interface Artifact {
  abi: AbiEntry[];
  bytecode: `0x${string}`;
}

interface Digests {
  compiler: string;
  settings: typeof SETTINGS;
  /** SHA-256 of the compiler's input: sources and settings. */
  input: string;
  /** SHA-256 of the generated files. */
  artifacts: string;
}

interface CompilerOutput {
  errors?: { severity: string; formattedMessage: string }[];
  contracts?: Record<
    string,
    Record<string, { abi: AbiEntry[]; evm: { bytecode: { object: string; linkReferences: object } } }>
  >;
}

/** The committed artifacts must come from the committed sources. Compiles nothing: the tests do that. */
export const contractStep: Step = {
  name: 'contracts (digests of sources and artifacts)',
  run: async () => {
    const faults = contractFaults();
    for (const fault of faults) console.log(fault);
    return faults.length === 0 ? PASSED : FAILED;
  },
};

/** What differs from the digests that were written beside the artifacts; empty where nothing does. */
export function contractFaults(): string[] {
  const digests: Digests = JSON.parse(readFileSync(path.join(ROOT, DIGESTS), 'utf8'));
  const faults: string[] = [];
  if (digests.compiler !== COMPILER) faults.push(`${DIGESTS}: of ${digests.compiler}, not of ${COMPILER}`);
  if (digests.input !== sha256(compilerInput()))
    faults.push('contracts/: the sources or settings have changed');
  if (digests.artifacts !== artifactDigest()) faults.push(`${ARTIFACTS}: edited by hand`);
  return faults.length === 0 ? [] : [...faults, 'run npm run contracts'];
}

/**
 * Compiles all of contracts/, which takes about a minute.
 * @returns by the contract's name, in the order of names; interfaces and libraries of internal functions are left out.
 * @throws with the compiler's messages, warnings too.
 */
export function compileContracts(): Map<string, Artifact> {
  const solc = path.join(ROOT, 'node_modules', '.bin', 'solcjs');
  const { stdout, stderr } = spawnSync(process.execPath, [solc, '--standard-json'], {
    input: compilerInput(),
    encoding: 'utf8',
    maxBuffer: 100_000_000,
  });
  // solcjs writes a hint about its callback before the JSON.
  const start = stdout.indexOf('{');
  if (start < 0) throw new Error(`solcjs gave no answer: ${stderr}`);
  const output: CompilerOutput = JSON.parse(stdout.slice(start));
  if (output.errors !== undefined) {
    throw new Error(output.errors.map(({ formattedMessage }) => formattedMessage).join('\n'));
  }
  const compiled = Object.entries(output.contracts ?? {}).flatMap(([file, contracts]) =>
    Object.entries(contracts)
      .filter(([name]) => path.basename(file, '.sol') === name && name !== 'Tokens')
      .map(([name, { abi, evm }]): [string, Artifact] => [
        name,
        { abi: abi.map(plainEntry), bytecode: `0x${evm.bytecode.object}` },
      ]),
  );
  return new Map(compiled.sort(([a], [b]) => (a < b ? -1 : 1)));
}

const MADE_BY = '// Made by npm run contracts.\n';

function constant(name: string, artifact: Partial<Artifact>): string {
  return `export const ${name} = ${JSON.stringify(artifact)} as const;\n`;
}

/** Compiles, and replaces the files of contracts/artifacts and the server's copy. */
export async function writeArtifacts(): Promise<string[]> {
  const artifacts = compileContracts();
  const folder = path.join(ROOT, ARTIFACTS);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const names = [...artifacts.keys()];
  for (const [name, artifact] of artifacts) {
    writeFileSync(path.join(folder, `${name}.ts`), `${MADE_BY}${constant(name, artifact)}`);
  }
  const copied = [...artifacts].filter(([name]) => SERVER_CONTRACTS.includes(name));
  const copy = copied.map(([name, { abi }]) => constant(name, { abi })).join('\n');
  writeFileSync(path.join(ROOT, SERVER_COPY), `${MADE_BY}${copy}`);
  writeFileSync(
    path.join(folder, 'index.ts'),
    `${MADE_BY}${names.map((name) => `export { ${name} } from './${name}.ts';\n`).join('')}`,
  );
  await execute('biome', ['format', '--write', ARTIFACTS, SERVER_COPY], { quiet: true });
  const digests: Digests = {
    compiler: COMPILER,
    settings: SETTINGS,
    input: sha256(compilerInput()),
    artifacts: artifactDigest(),
  };
  writeFileSync(path.join(ROOT, DIGESTS), `${JSON.stringify(digests, null, 2)}\n`);
  return names;
}

/** The compiler's standard JSON; file names do not depend on where the repository lies. */
function compilerInput(): string {
  const files = globSync('contracts/**/*.sol', { cwd: ROOT }).sort();
  return JSON.stringify({
    language: 'Solidity',
    sources: Object.fromEntries(
      files.map((file) => [file, { content: readFileSync(path.join(ROOT, file), 'utf8') }]),
    ),
    settings: { ...SETTINGS, outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object'] } } },
  });
}

function artifactDigest(): string {
  const files = globSync(`${ARTIFACTS}/*.ts`, { cwd: ROOT }).sort();
  return sha256(files.map((file) => `${file}\n${readFileSync(path.join(ROOT, file), 'utf8')}`).join('\n'));
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Without `internalType`, Solidity's own names of types, which no caller needs. */
function plainEntry(entry: AbiEntry): AbiEntry {
  return {
    ...entry,
    ...(entry.inputs && { inputs: entry.inputs.map(plainParameter) }),
    ...(entry.outputs && { outputs: entry.outputs.map(plainParameter) }),
  };
}

function plainParameter({ name, type, indexed, components }: AbiParameter): AbiParameter {
  return {
    ...(indexed !== undefined && { indexed }),
    name,
    type,
    ...(components && { components: components.map(plainParameter) }),
  };
}
