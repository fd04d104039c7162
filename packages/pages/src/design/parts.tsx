import type { ComponentChildren } from 'preact';
import type { QrCode } from '../views/checkout.ts';
import type { StoreBrand, StoreFace } from '../views/payer-page.ts';

/** The head of a page: whose it is. @param root the way from the page's address to the service's own */
export function StoreHead({ store, root }: { store: StoreFace; root: string }) {
  const { storeName, brand } = store;
  const [first = ''] = Array.from(storeName.trim());
  return (
    <div class="top">
      {brand.logo === null ? (
        <span class="mark" aria-hidden="true">
          {first.toUpperCase()}
        </span>
      ) : (
        // The name stands beside it.
        <img
          class="logo"
          src={brand.logo.path.startsWith('data:') ? brand.logo.path : root + brand.logo.path}
          alt=""
          width={brand.logo.width}
          height={brand.logo.height}
        />
      )}
      <span class="store" dir="auto">
        {storeName}
      </span>
    </div>
  );
}

const ICONS = {
  check: 'M5 13l4.5 4.5L19 7',
  clock: 'M12 6v6l4 2M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18z',
  exclamation: 'M12 7v6M12 17v.01',
  cross: 'M7 7l10 10M17 7L7 17',
  minus: 'M7 12h10',
  pause: 'M9 7v10M15 7v10',
};

/** At the end of a row that leads on; it points the way that the language is read. */
export function Chevron() {
  return (
    <svg class="chevron" viewBox="0 0 24 24" aria-hidden="true">
      <path d="M9 5l7 7-7 7" />
    </svg>
  );
}

/** `wait` moves where readers allow it. */
export type Tone = 'good' | 'wait' | 'warn' | 'bad';

/** A mark above a heading that says the same. */
export function Sign({ tone, icon }: { tone: Tone; icon: keyof typeof ICONS }) {
  return (
    <div class={`sign ${tone === 'wait' ? 'pulse' : tone}`}>
      <svg viewBox="0 0 24 24" aria-hidden="true">
        <path d={ICONS[icon]} />
      </svg>
    </div>
  );
}

/** A message framed by its tone. `role="alert"` where it answers what the reader has just done. */
export function Note(props: {
  tone: Tone | 'plain';
  title?: string;
  id?: string;
  role?: 'alert';
  children: ComponentChildren;
}) {
  const { tone, title, children, id, role } = props;
  return (
    <div class={tone === 'plain' ? 'note' : `note ${tone}`} id={id} role={role}>
      {title === undefined ? null : <b>{title}</b>}
      {children}
    </div>
  );
}

/** An address or id, to be compared character by character. */
export function Exact({ text }: { text: string }) {
  return <bdi class="id">{text}</bdi>;
}

/** What is to be paid, large; a price keeps its own direction. */
export function Price({ text }: { text: string }) {
  return (
    <p class="price">
      <bdi>{text}</bdi>
    </p>
  );
}

/** A name with its value; a text keeps its own direction. */
export type Row = readonly [name: ComponentChildren, value: ComponentChildren];

export function Rows({ rows }: { rows: readonly Row[] }) {
  return (
    <dl class="rows">
      {rows.map(([name, value], i) => (
        // Names may repeat, and rows are never reordered.
        <div key={i}>
          <dt>{name}</dt>
          <dd>{typeof value === 'string' ? <bdi>{value}</bdi> : value}</dd>
        </div>
      ))}
    </dl>
  );
}

export function Qr({ code, label }: { code: QrCode; label: string }) {
  return (
    <div class="qr">
      <svg
        viewBox={`0 0 ${code.size} ${code.size}`}
        role="img"
        aria-label={label}
        shape-rendering="crispEdges"
      >
        <path d={code.path} fill="#000" />
      </svg>
    </div>
  );
}

export function Hidden({ fields }: { fields: Readonly<Record<string, string>> }) {
  return (
    <>
      {Object.entries(fields).map(([name, value]) => (
        <input key={name} type="hidden" name={name} value={value} />
      ))}
    </>
  );
}

/** One of several choices of a form. */
export function RadioOption(props: {
  value: string;
  isChosen: boolean;
  title: string;
  children?: ComponentChildren;
}) {
  const { value, isChosen, title, children } = props;
  return (
    <label class="option">
      <input type="radio" name="option" value={value} required defaultChecked={isChosen} />
      <span>
        <b>{title}</b>
        {children}
      </span>
    </label>
  );
}

/** Where the store is reached, below a text that says to contact it. */
export function Contact({ brand: { support }, label }: { brand: StoreBrand; label: string }) {
  if (support === null) return null;
  return (
    <p class="contact">
      {label}{' '}
      <a href={support.href} rel="noreferrer">
        <bdi>{support.text}</bdi>
      </a>
    </p>
  );
}

/** A link out of the service, back to the store. */
export function LeaveLink(props: { href: string; isMain: boolean; text: string }) {
  const { href, isMain, text } = props;
  return (
    <p class={isMain ? 'leave' : 'center leave'}>
      <a class={isMain ? 'button' : undefined} href={href} rel="noreferrer">
        {text}
      </a>
    </p>
  );
}
