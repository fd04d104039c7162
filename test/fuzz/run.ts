import fc from 'fast-check';
import type { Credentials } from '../signed-request.ts';
import { type Case, type CaseOptions, casesOf } from './cases.ts';
import { type Exchange, problemsOf } from './checks.ts';
import type { Contract } from './document.ts';
import { KnownIds } from './known-ids.ts';
import { asCurl, signed, Wire } from './wire.ts';

export interface Merchant extends Credentials {
  /** Ids of another merchant, by kind. */
  foreign: Readonly<Record<string, string>>;
  /** Ids of its own resources that only lists show, by kind. */
  own: Readonly<Record<string, string>>;
}

export interface FuzzOptions extends CaseOptions {
  seed: number;
  /** Ends with the case that reaches them. */
  requests: number;
  /** This case alone. */
  index?: number | undefined;
  /** One case after the other for each. */
  merchants: readonly Merchant[];
}

export interface Finding {
  seed: number;
  index: number;
  operation: string;
  tweak: string;
  problems: readonly string[];
  /** The requests of the case in its smallest form, up to the one that failed. */
  requests: readonly string[];
  answer: string;
}

export interface FuzzReport {
  seed: number;
  requests: number;
  cases: number;
  seconds: number;
  /** `createPayoutBatch 200` → how often. */
  answers: Record<string, number>;
  findings: Finding[];
}

const FINDINGS_MAX = 20;
const SHRINK_MS = 5_000;
const ANSWER_SHOWN_MAX = 1_000;

/** One of 2^32 numbers for each case, so that neighbours have nothing in common. */
const caseSeed = (seed: number, index: number) =>
  Math.imul(seed ^ Math.imul(index + 1, 0x9e3779b1), 0x85ebca6b) | 0;

class Problem extends Error {
  readonly finding: Omit<Finding, 'seed' | 'index'>;

  constructor(finding: Omit<Finding, 'seed' | 'index'>) {
    super(finding.problems.join('; '));
    this.finding = finding;
  }
}

/** Sends cases until so many requests are out, and tells of every answer that breaks the document. */
export async function fuzz(contract: Contract, baseUrl: string, options: FuzzOptions): Promise<FuzzReport> {
  const { seed, requests, index } = options;
  const cases = casesOf(contract, options);
  const report: FuzzReport = { seed, requests: 0, cases: 0, seconds: 0, answers: {}, findings: [] };
  const wire = new Wire(baseUrl);
  const start = performance.now();
  const isOver = () =>
    report.findings.length >= FINDINGS_MAX ||
    (index === undefined ? report.requests >= requests : report.cases > 0);
  const lane = async (merchant: Merchant) => {
    while (!isOver()) {
      const at = index ?? report.cases;
      report.cases++;
      let last: Problem | undefined;
      const property = fc.asyncProperty(cases, async (one) => {
        last = await runCase({ contract, baseUrl, wire, merchant, report }, one);
        if (last !== undefined) throw last;
      });
      const parameters = {
        seed: caseSeed(seed, at),
        numRuns: 1,
        interruptAfterTimeLimit: SHRINK_MS,
        endOnFailure: false,
      };
      const result = await fc.check(property, parameters);
      const problem = result.errorInstance instanceof Problem ? result.errorInstance : last;
      if (problem !== undefined) report.findings.push({ seed, index: at, ...problem.finding });
      else if (result.failed && !result.interrupted) throw result.errorInstance;
    }
  };
  try {
    await Promise.all((index === undefined ? options.merchants : options.merchants.slice(0, 1)).map(lane));
  } finally {
    wire.close();
  }
  report.seconds = Math.round((performance.now() - start) / 100) / 10;
  return report;
}

interface Run {
  contract: Contract;
  baseUrl: string;
  wire: Wire;
  merchant: Merchant;
  report: FuzzReport;
}

/** @returns the first problem of the case */
async function runCase(run: Run, drafts: Case): Promise<Problem | undefined> {
  const ids = new KnownIds(run.merchant);
  const sent: string[] = [];
  for (const draft of drafts) {
    const ready = signed(draft, run.merchant, (text) => ids.resolve(text));
    const idsExist = ids.takeSurety();
    sent.push(asCurl(run.baseUrl, ready));
    run.report.requests++;
    const about = { operation: draft.operation.id, tweak: draft.tweak, requests: sent };
    let answer: Exchange['answer'];
    try {
      answer = await run.wire.send(ready);
    } catch (error) {
      return new Problem({ ...about, problems: [`no answer: ${String(error)}`], answer: '' });
    }
    const exchange = { draft, ready, answer, idsExist };
    const name = `${draft.operation.id} ${answer.status}`;
    run.report.answers[name] = (run.report.answers[name] ?? 0) + 1;
    const problems = problemsOf(run.contract, exchange);
    if (problems.length > 0) {
      const text = `${answer.status} ${JSON.stringify(answer.headers)} ${answer.text.slice(0, ANSWER_SHOWN_MAX)}`;
      return new Problem({ ...about, problems, answer: text });
    }
    ids.learn(exchange);
  }
  return undefined;
}

/** A finding as a person reads it, with the command that brings it back. */
export function describeFinding({
  seed,
  index,
  operation,
  tweak,
  problems,
  requests,
  answer,
}: Finding): string {
  return [
    `${operation}, ${tweak}: ${problems.join('; ')}`,
    `  again: npm run fuzz -- --seed ${seed} --index ${index}`,
    ...requests.map((request) => `  ${request}`),
    `  → ${answer}`,
  ].join('\n');
}
