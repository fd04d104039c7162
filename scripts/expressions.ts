import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseSync } from 'oxc-parser';
import { check } from 'recheck';
import recheck from 'recheck/package.json' with { type: 'json' };
import { execute, FAILED, PASSED, ROOT, type Step } from './step.ts';

const SOURCES = ['*.ts', '*.tsx', '*.js'];
/** Long enough on a busy machine: an expression that nobody could judge is refused. */
const TIMEOUT_MS = 120_000;
/** A constant by this name is a pattern, of a schema or of an expression elsewhere. */
const PATTERN_NAME = /(?:^|_)PATTERN$/;
/** What a test reads was made by us: more than a square there would still hold it up for ever. */
const TESTS = /\.test\.ts$|^test\//;

export interface Expression {
  line: number;
  pattern: string;
  flags: string;
}

interface Node {
  type: string;
  start: number;
  [field: string]: unknown;
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as Node).type === 'string';

/**
 * Every regular expression of a source: literals, what `RegExp` is given, and patterns of schemas. `unread` gets the lines
 * where `RegExp` is given something that cannot be read here, such as a sum of texts.
 */
export function expressionsOf(file: string, source: string, unread: number[] = []): Expression[] {
  const found: Expression[] = [];
  const lineOf = (node: Node) => source.slice(0, node.start).split('\n').length;
  const add = (node: Node, pattern: string, flags = '') => found.push({ line: lineOf(node), pattern, flags });
  const visit = (node: Node): void => {
    const { regex } = node as { regex?: { pattern: string; flags: string } };
    if (regex !== undefined) return void add(node, regex.pattern, regex.flags);
    const text = textOf(patternIn(node));
    if (text !== undefined) add(node, text, textOf(flagsIn(node)));
    else if (argumentsOf(node).length > 0 && !isNamedPattern(argumentsOf(node)[0])) unread.push(lineOf(node));
    for (const value of Object.values(node))
      for (const child of [value].flat()) if (isNode(child)) visit(child);
  };
  visit(parseSync(file, source).program as unknown as Node);
  return found;
}

const argumentsOf = (node: Node): unknown[] => {
  const makes = node.type === 'NewExpression' || node.type === 'CallExpression';
  return makes && (node.callee as Node).name === 'RegExp' ? (node.arguments as unknown[]) : [];
};

/** Read where the constant of that name is made. */
const isNamedPattern = (node: unknown) =>
  isNode(node) && node.type === 'Identifier' && PATTERN_NAME.test(String(node.name));

/** The part of a node that is read as an expression. */
function patternIn(node: Node): unknown {
  if (node.type === 'VariableDeclarator')
    return PATTERN_NAME.test(String((node.id as Node).name)) ? node.init : undefined;
  if (node.type === 'Property') return (node.key as Node).name === 'pattern' ? node.value : undefined;
  return argumentsOf(node)[0];
}

const flagsIn = (node: Node): unknown => argumentsOf(node)[1];

/** The text of a literal; what a template takes from elsewhere stands as one letter. */
function textOf(node: unknown): string | undefined {
  if (!isNode(node)) return undefined;
  if (node.type === 'Literal' && typeof node.value === 'string') return node.value;
  if (node.type !== 'TemplateLiteral') return undefined;
  const parts = node.quasis as { value: { cooked: string } }[];
  return parts.map(({ value }) => value.cooked).join('x');
}

/**
 * Whether only single characters are repeated: no group, and nothing that was captured. Each loop of such an expression goes
 * back to its start in one way only, so the time may be polynomial, never exponential. False where that is not certain.
 */
export function repeatsOnlyCharacters({ pattern, flags }: Omit<Expression, 'line'>): boolean {
  // Sets within sets would be read wrongly here.
  if (flags.includes('v')) return false;
  const plain = pattern.replace(/\\[^\dk]/g, 'x').replace(/\[[^[\]]*\]/g, 'x');
  return !/\)[*+{]|\\/.test(plain);
}

/** Why an expression is refused; undefined where its time grows with the text alone. */
export async function slownessOf(
  expression: Omit<Expression, 'line'>,
  allowed: 'linear' | 'polynomial' = 'linear',
): Promise<string | undefined> {
  // Four fifths of the gate's time, were these judged as well.
  if (allowed === 'polynomial' && repeatsOnlyCharacters(expression)) return undefined;
  const { pattern, flags } = expression;
  const judge = async () => await check(pattern, flags, { timeout: TIMEOUT_MS });
  const first = await judge();
  // Its random search measures time as well: on a busy machine it finds what is not there, and not twice.
  const found = first.status === 'vulnerable' && first.checker === 'fuzz' ? await judge() : first;
  if (found.status === 'safe') return undefined;
  if (found.status === 'unknown') return `cannot be judged: ${found.error.kind}`;
  const { type, summary } = found.complexity;
  return allowed === 'polynomial' && type === 'polynomial' ? undefined : `takes ${summary} time`;
}

async function listSources(): Promise<string[]> {
  const args = ['ls-files', '--cached', '--others', '--exclude-standard', ...SOURCES];
  const { stdout } = await execute('git', args, { quiet: true });
  // A file that was deleted is listed until its deletion is staged.
  return stdout.split('\n').filter((file) => file !== '' && existsSync(path.join(ROOT, file)));
}

/** What has passed: the same expression passes again, and most of them take longer to judge than all else that we check. */
const CACHE = path.join(ROOT, 'node_modules', '.cache', `expressions-${recheck.version}.json`);

function readPassed(): Set<string> {
  try {
    return new Set<string>(JSON.parse(readFileSync(CACHE, 'utf8')));
  } catch {
    return new Set();
  }
}

function keepPassed(passed: ReadonlySet<string>): void {
  mkdirSync(path.dirname(CACHE), { recursive: true });
  writeFileSync(CACHE, JSON.stringify([...passed]));
}

/** An expression that tries again from every character lets one request hold a process up. */
export const expressionStep: Step = {
  name: 'regular expressions in linear time (recheck)',
  run: async () => {
    const passed = readPassed();
    const judge = async (expression: Expression, allowed: 'linear' | 'polynomial') => {
      const key = `${allowed} /${expression.pattern}/${expression.flags}`;
      const reason = passed.has(key) ? undefined : await slownessOf(expression, allowed);
      if (reason === undefined) passed.add(key);
      return reason;
    };
    let count = 0;
    let faults = 0;
    for (const file of await listSources()) {
      const source = readFileSync(path.join(ROOT, file), 'utf8');
      const unread: number[] = [];
      const expressions = expressionsOf(file, source, unread);
      for (const line of TESTS.test(file) ? [] : unread) {
        faults++;
        console.log(
          `${file}:${line}: what RegExp is given cannot be read: a text, or a constant named …_PATTERN`,
        );
      }
      for (const expression of expressions) {
        count++;
        const reason = await judge(expression, TESTS.test(file) ? 'polynomial' : 'linear');
        if (reason === undefined) continue;
        faults++;
        console.log(`${file}:${expression.line}: /${expression.pattern}/${expression.flags} ${reason}`);
      }
    }
    keepPassed(passed);
    console.log(`${count} expressions`);
    return faults === 0 ? PASSED : FAILED;
  },
};
