import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** Bad inputs of public test suites. They are kept beside the repository and never copied into it. */
const FOLDER = path.resolve(import.meta.dirname, '..', '..', 'shared', 'corpora');

/** False where tests run on our own cases alone. */
export const HAS_CORPORA = existsSync(FOLDER);
if (!HAS_CORPORA)
  console.warn(`Bad inputs are our own cases alone: there are no public corpora at ${FOLDER}`);

/** Cases in each corpus, so that one that was cut short is noticed. */
const COUNTS: Record<string, number> = {
  'address/address_vectors.jsonl': 46,
  'crypto/wycheproof_hmac_sha256_test.json': 174,
  'json/nst_jsontestsuite.jsonl': 340,
  'json/prototype_pollution.json': 15,
  'money/amount_strings.json': 320,
  'ssrf/ip_classification.jsonl': 91,
  'strings/blns.json': 515,
  'tokens/token_contracts.json': 16,
  'webhook/callback_urls.jsonl': 89,
  'webhook/standard-webhooks-vectors.json': 13,
};

/**
 * Our own cases, followed by those of the public corpus `name`. Without the folder of corpora a test runs on our own
 * cases alone and its file says so in one line; it is never skipped.
 *
 * @param pick takes the cases out of the corpus: a `.json` file is one document, a `.jsonl` file a document a line, a
 *   `.txt` file a list of lines that are not empty
 */
export function withCorpus<T, Corpus = readonly T[]>(
  own: readonly T[],
  name: string,
  pick: (corpus: Corpus) => readonly T[],
): readonly T[] {
  if (!HAS_CORPORA) return own;
  const cases = pick(readCorpus(name));
  const count = COUNTS[name] ?? cases.length;
  if (cases.length !== count) throw new Error(`${name} has ${cases.length} cases instead of ${count}`);
  return [...own, ...cases];
}

function readCorpus<Corpus>(name: string): Corpus;
function readCorpus(name: string): unknown {
  const text = readFileSync(path.join(FOLDER, name), 'utf8');
  if (name.endsWith('.json')) return JSON.parse(text);
  const lines = text.split(/\r?\n/).filter((line) => line !== '');
  return name.endsWith('.jsonl') ? lines.map((line) => JSON.parse(line)) : lines;
}
