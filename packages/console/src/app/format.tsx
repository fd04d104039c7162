import { exponentOf } from '@florin/contract/currencies';
import { Code, CopyButton, UnstyledButton } from '@mantine/core';
import type { ReactNode } from 'react';

/** An amount in the smallest unit as people write it: its digits with the point moved, nothing is computed. */
export function amountText(units: number, currency: string): string {
  const exponent = exponentOf(currency);
  const digits = String(Math.abs(units)).padStart(exponent + 1, '0');
  let whole = digits.slice(0, digits.length - exponent);
  // `toLocaleString` took 10 ms for the 25 amounts of a list.
  for (let at = whole.length - 3; at > 0; at -= 3) whole = `${whole.slice(0, at)},${whole.slice(at)}`;
  const fraction = digits.slice(digits.length - exponent);
  // Of a token's six digits the last four say nothing where they are zero.
  const shown = exponent > 2 ? fraction.replace(/0{1,4}$/, '') : fraction;
  return `${units < 0 ? '-' : ''}${whole}${shown === '' ? '' : `.${shown}`} ${currency}`;
}

export const Amount = ({ units, currency }: { units: number; currency: string }) => (
  <span className="amount">{amountText(units, currency)}</span>
);

/** An amount that the API writes as a decimal. */
export const AmountText = ({ text, currency }: { text: string; currency: string }) => (
  <span className="amount">
    {text} {currency}
  </span>
);

const TIMES = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const EXACT_TIMES = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });

/** A time of the API, in Unix seconds, in the zone of the browser. */
const timeText = (seconds: number, isExact: boolean): string =>
  (isExact ? EXACT_TIMES : TIMES).format(seconds * 1000);

/** Stands where there is nothing. */
const Nothing = () => <span className="nothing">–</span>;

interface TimeProps {
  at: number | null | undefined;
  /** To the second. */
  isExact?: boolean;
}

export function Time({ at, isExact = false }: TimeProps) {
  if (at === null || at === undefined) return <Nothing />;
  const iso = new Date(at * 1000).toISOString();
  return (
    <time dateTime={iso} title={iso}>
      {timeText(at, isExact)}
    </time>
  );
}

/** A time of the console's own routes, in ISO 8601. */
export const IsoTime = ({ at }: { at: string | null }) => (
  <Time at={at === null ? null : Date.parse(at) / 1000} />
);

const TONES: Record<string, 'good' | 'bad' | 'warn'> = {
  completed: 'good',
  succeeded: 'good',
  paid: 'good',
  active: 'good',
  delivered: 'good',
  enabled: 'good',
  final: 'good',
  valid: 'good',
  fine: 'good',
  stopped: 'bad',
  away: 'bad',
  late: 'warn',
  differs: 'bad',
  failed: 'bad',
  frozen: 'bad',
  invalid: 'bad',
  exhausted: 'bad',
  rejected: 'bad',
  past_due: 'bad',
  seized: 'bad',
  needs_fix: 'warn',
  paused: 'warn',
  disabled: 'warn',
  pending_approval: 'warn',
  partially_completed: 'warn',
};

export const wordsOf = (name: string): string => name.replaceAll('_', ' ');

/** A setting's value. An empty list is a value too. */
export const settingText = (value: string): string =>
  value === '' ? 'nothing' : value.replaceAll(',', ', ');

/** `1 row`, `2 rows` */
export const numbered = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`;

export const Status = ({ name }: { name: string }) => (
  <span className="status" data-tone={TONES[name]}>
    {wordsOf(name)}
  </span>
);

const CopyGlyph = ({ isDone }: { isDone: boolean }) => (
  <svg
    width="14"
    height="14"
    viewBox="0 0 16 16"
    fill="none"
    stroke="currentColor"
    strokeWidth="1.5"
    aria-hidden="true"
  >
    <path d={isDone ? 'M3 8.5 6.5 12 13 4.5' : 'M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3'} />
  </svg>
);

/** Ids and addresses: whole for the clipboard, short for the eye. Plain elements, as most rows of lists have one (decision 208). */
export function CopyId({ id, isShort = false }: { id: string; isShort?: boolean }) {
  const shown = isShort && id.length > 18 ? `${id.slice(0, 8)}…${id.slice(-6)}` : id;
  return (
    <span className="copied">
      <code className={`id ${Code.classes.root}`} title={id} dir="ltr">
        {shown}
      </code>
      <CopyButton value={id}>
        {({ copied, copy }) => (
          <button
            type="button"
            className={UnstyledButton.classes.root}
            onClick={copy}
            aria-label={copied ? 'Copied' : `Copy ${shown}`}
          >
            <CopyGlyph isDone={copied} />
          </button>
        )}
      </CopyButton>
    </span>
  );
}

/** What may be missing. */
export const Maybe = ({ children }: { children: ReactNode }) =>
  children === null || children === undefined || children === '' ? <Nothing /> : children;

export const NETWORK_NAMES: Record<string, string> = { erc20: 'Ethereum', trc20: 'Tron', spl: 'Solana' };
