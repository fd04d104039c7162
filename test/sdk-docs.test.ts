import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseSync } from 'oxc-parser';
import { describe, expect, test } from 'vitest';
import { compile } from './compile.ts';

const ROOT = path.resolve(import.meta.dirname, '..');
const SDK = path.join(ROOT, 'packages', 'sdk', 'src');
const FOLDER = path.join(ROOT, 'node_modules', '.cache', 'sdk-examples');

/** Files whose classes no shop calls: what all resources are made of, and errors, which the SDK makes. */
const INNER = [
  'resource.ts',
  'transport.ts',
  'errors.ts',
  'webhooks/raw-body.ts',
  'webhooks/memory-store.ts',
];

/** What the examples are about, in every one of them. */
const SCENE = `
import { createWriteStream, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import {
  approvalText, Florin, freshStamp, type PayoutBatch, responseOf, signApproval, signatureHeaders, type SubscriptionUpdateInput,
  usdc, usdt, webhooks, type WebhookHeaders,
} from '@florin/sdk';
import { startSandbox } from '@florin/sdk/testing';

declare const florin: Florin;
declare const batch: PayoutBatch;
declare const wages: { address: string; units: bigint }[];
declare const items: NonNullable<SubscriptionUpdateInput['items']>;
declare const rawBody: Uint8Array;
declare const headers: WebhookHeaders;
declare const validUntil: number;
declare const [
  orderId, sessionId, paymentId, eventId, lastEventId, invoiceId, linkId, paymentMethodId, batchId, itemId, address, privateKey,
  subscriptionId, endpointId, deliveryId,
]: string[] & Record<number, string> & [
  string, string, string, string, string, string, string, string, string, string, string, string, string, string, string,
];
`;

interface Documented {
  name: string;
  comment: string;
}

/** The functions and methods of a file that a shop can call, with the comment before each. */
function listPublic(file: string): Documented[] {
  const source = readFileSync(path.join(SDK, file), 'utf8');
  const { program, comments } = parseSync(file, source);
  const commentBefore = (start: number) => {
    const last = comments.findLast(({ end }) => end <= start);
    return last !== undefined && source.slice(last.end, start).trim() === '' ? last.value : '';
  };
  const found = new Map<string, string>();
  const add = (name: string, start: number) => {
    // Of overloads the first is documented.
    if (!found.has(name)) found.set(name, commentBefore(start));
  };
  for (const node of program.body) {
    const declared = node.type === 'ExportNamedDeclaration' ? node.declaration : node;
    if (declared?.type === 'ClassDeclaration') {
      for (const member of declared.body.body) {
        if (member.type !== 'MethodDefinition' || member.key.type !== 'Identifier') continue;
        if ((member.accessibility ?? 'public') !== 'public') continue;
        if (member.kind === 'method') add(`${declared.id?.name}.${member.key.name}`, member.start);
      }
    } else if (node !== declared && declared?.type === 'FunctionDeclaration')
      add(String(declared.id?.name), node.start);
    else if (node !== declared && declared?.type === 'TSDeclareFunction')
      add(String(declared.id?.name), node.start);
  }
  return [...found].map(([name, comment]) => ({ name, comment }));
}

const faces = [
  path.join(SDK, 'index.ts'),
  path.join(SDK, 'webhooks', 'index.ts'),
  path.join(SDK, 'testing.ts'),
];
const faceText = faces.map((face) => readFileSync(face, 'utf8')).join('\n');
const isCallable = ({ name }: Documented) => name.includes('.') || new RegExp(`\\b${name}\\b`).test(faceText);

const documented = globSync('**/*.ts', { cwd: SDK, exclude: ['**/planted-*.ts'] })
  .filter((file) => !file.includes('test.ts') && file !== 'wire.ts' && !INNER.includes(file))
  .flatMap((file) => listPublic(file).filter(isCallable));

const examplesOf = (comment: string) =>
  [...comment.matchAll(/@example\s+\*?\s*```ts\n([\s\S]*?)```/g)].map(([, code = '']) =>
    code.replaceAll(/^ *\* ?/gm, '').trimEnd(),
  );

describe('what a shop calls', () => {
  test('there is much of it', () => {
    expect(documented.length).toBeGreaterThan(70);
    expect(documented.map(({ name }) => name)).toEqual(
      expect.arrayContaining([
        'Payouts.submit',
        'Florin.withOptions',
        'latestOnly',
        'verify',
        'startSandbox',
      ]),
    );
  });

  test.each(documented)('$name is described and shown in an example', ({ comment }) => {
    const [text = ''] = comment.split('@example');
    expect(text.replaceAll('*', '').trim()).not.toBe('');
    expect(examplesOf(comment).length).toBeGreaterThan(0);
  });
});

/** Each example as a function of a module of its own, so that none sees the names of another. */
function writeExamples(): string[] {
  mkdirSync(FOLDER, { recursive: true });
  const files = documented.flatMap(({ name, comment }) =>
    examplesOf(comment).map((code, i) => {
      const file = `${name}-${i}.ts`;
      const own = code.replaceAll(/^import .*$/gm, '');
      writeFileSync(path.join(FOLDER, file), `${SCENE}\nexport async function example() {\n${own}\n}\n`);
      return file;
    }),
  );
  return files;
}

test('every example compiles', { timeout: 120_000 }, async () => {
  expect(await compile(FOLDER, writeExamples())).toBe('');
});
