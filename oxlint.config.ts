import { defineConfig } from 'oxlint';

/** The levels of packages/server/src: a module imports lower levels only, through their public faces. */
const LEVELS = [
  ['platform'],
  ['tenancy'],
  ['stores', 'customers', 'ledger', 'chains', 'rates'],
  ['mail', 'request-log', 'audit'],
  ['events', 'transfers'],
  ['webhooks', 'payment-methods', 'payouts'],
  ['payments'],
  ['checkout'],
  ['refunds', 'invoices', 'custody'],
  ['subscriptions'],
  ['reconciliation'],
  ['console', 'sandbox', 'docs', 'monitoring'],
];
const MODULES = LEVELS.flat();

/** Files beside the modules that join them: nobody imports these. */
const ROOTS = ['**/app.ts', '**/workers.ts', '**/main.ts', '**/operator.ts'];

/** Workspace packages that a package may import. */
const PACKAGES: Record<string, string[]> = {
  contract: [],
  sdk: ['contract'],
  cli: ['contract', 'sdk', 'server', 'signer'],
  server: ['contract', 'console', 'pages', 'embedded-postgres', 'signer', 'site'],
  signer: [],
  pages: ['contract'],
  site: ['contract', 'pages'],
  console: ['contract', 'pages'],
  'embedded-postgres': [],
};

/** Libraries that one module alone may use. */
const DOORS: Record<string, string[]> = {
  mail: ['nodemailer', 'nodemailer/**'],
  platform: ['pg', 'undici', 'ipaddr.js', 'fastify', '@fastify/*'],
  chains: ['viem', 'viem/**', 'tronweb', '@solana/*', '@solana-program/*'],
};

function foreignPackages(name: string): string[] {
  return Object.keys(PACKAGES)
    .filter((other) => other !== name && !PACKAGES[name]?.includes(other))
    .flatMap((other) => [`@florin/${other}`, `@florin/${other}/**`, `**/${other}/src/**`]);
}

function foreignDoors(module: string): string[] {
  return Object.entries(DOORS).flatMap(([door, libraries]) => (door === module ? [] : libraries));
}

/**
 * All but a module's faces: its index.ts and that of each of its folders. In platform each direct file is one too, and
 * its folders have folders of their own.
 */
function insideOf(module: string): string[] {
  const faces = [`!**/${module}/index.ts`, `!**/${module}/*/index.ts`];
  return module === 'platform'
    ? ['**/platform/**', ...faces, '!**/platform/*.ts', '!**/platform/*/*/index.ts']
    : [`**/${module}/**`, ...faces];
}

/**
 * The LAST matching override replaces a rule's options, so each carries its whole list. Only `group`: a `regex`
 * with look-around is accepted and never matches.
 */
function restrictImports(group: string[], message: string) {
  return {
    'no-restricted-imports': ['error', { patterns: [{ group, message }] }] as ['error', object],
  };
}

const packageRules = Object.entries(PACKAGES).map(([name, allowed]) => ({
  files: [`packages/${name}/**/*.{ts,tsx}`],
  rules: restrictImports(
    foreignPackages(name),
    `${name} may import these packages only: ${allowed.join(', ') || 'none'}`,
  ),
}));

const rootRules = {
  files: ['packages/server/src/*.ts', 'packages/server/src/operator/*.ts'],
  rules: restrictImports(
    [...foreignPackages('server'), ...MODULES.flatMap(insideOf)],
    'a module is reached through its faces, index.ts',
  ),
};

function forbiddenIn(module: string, lower: readonly string[]): string[] {
  return [
    ...foreignPackages('server'),
    ...foreignDoors(module),
    ...ROOTS,
    ...lower.flatMap(insideOf),
    ...MODULES.filter((other) => other !== module && !lower.includes(other)).map((m) => `**/${m}/**`),
  ];
}

const moduleRules = LEVELS.flatMap((row, level) => {
  const lower = LEVELS.slice(0, level).flat();
  return row.map((module) => ({
    files: [`packages/server/src/${module}/**/*.ts`],
    rules: restrictImports(
      forbiddenIn(module, lower),
      `${module} (level ${level}) may import only the public faces of: ${lower.join(', ') || 'nothing'}`,
    ),
  }));
});

/** Decisions without I/O: they reach neither the database nor the files that do. */
const decisionRules = {
  files: ['packages/server/src/subscriptions/decide/*.ts'],
  rules: restrictImports(
    [
      ...forbiddenIn(
        'subscriptions',
        LEVELS.slice(
          0,
          LEVELS.findIndex((row) => row.includes('subscriptions')),
        ).flat(),
      ),
      '**/platform/{db,http,jobs,outbound}/**',
      '../*.ts',
      '!../states.ts',
    ],
    'decisions of subscriptions take facts and give facts: no I/O',
  ),
};

function functionLines(max: number) {
  return {
    'max-lines-per-function': ['error', { max, skipBlankLines: true, skipComments: true }] as [
      'error',
      object,
    ],
  };
}

export default defineConfig({
  // Without typeAware the promise rules are skipped in silence.
  options: { typeAware: true, denyWarnings: true },
  plugins: ['typescript', 'oxc', 'unicorn', 'import', 'promise', 'node', 'vitest'],
  categories: { correctness: 'error' },
  ignorePatterns: ['**/node_modules/**', '**/dist/**', 'packages/sdk/src/wire.ts'],
  rules: {
    'import/no-cycle': ['error', { ignoreTypes: false }],
    'max-lines': ['error', { max: 400 }],
    'max-params': ['error', { max: 4 }],
    ...functionLines(70),
    'typescript/no-explicit-any': 'error',
    'typescript/no-floating-promises': 'error',
    'typescript/no-misused-promises': 'error',
    // Alphabets and digits are spread on purpose; text of people is never taken apart here.
    'typescript/no-misused-spread': 'off',
    'typescript/switch-exhaustiveness-check': 'error',
  },
  overrides: [
    ...packageRules,
    rootRules,
    ...moduleRules,
    decisionRules,
    {
      files: ['packages/server/src/**/*.ts'],
      rules: {
        'no-restricted-globals': ['error', 'fetch', 'Date'],
        'no-restricted-properties': ['error', { object: 'Math', property: 'random' }],
        'node/no-process-env': 'error',
      },
    },
    {
      files: [
        'packages/server/src/platform/{config,db/clock,observability/log}.ts',
        'packages/server/src/main.ts',
      ],
      rules: { 'no-restricted-globals': 'off', 'node/no-process-env': 'off' },
    },
    { files: ['**/*.tsx'], rules: functionLines(120) },
    {
      files: ['**/*.test.ts', 'test/**', 'bench/**'],
      rules: {
        'import/no-cycle': 'error',
        'max-lines-per-function': 'off',
        'no-restricted-globals': 'off',
        'node/no-process-env': 'off',
        // Corpora and properties say per case what is expected of it.
        'vitest/no-conditional-expect': 'off',
        'vitest/valid-expect': ['error', { maxArgs: 2 }],
        'vitest/expect-expect': [
          'error',
          { assertFunctionNames: ['expect', 'expect*', 'assert*', 'fc.assert'] },
        ],
      },
    },
  ],
});
