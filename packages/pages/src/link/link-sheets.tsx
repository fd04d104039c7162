import { translatorOf } from '../catalogues.ts';
import { Price, Qr } from '../design/parts.tsx';
import type { Sheet } from '../design/shell.tsx';
import { storeSheet } from '../design/store-sheet.tsx';
import type { Translate } from '../texts.ts';
import type { LinkPosterView, LinkView } from '../views/link.ts';

const TYPED_MAX = 32;

type T = Translate<'link'>;

function Fault({ view: { fault, currency, example }, t }: { view: LinkView; t: T }) {
  if (fault === null) return null;
  return (
    <p class="error" id="fault" role="alert">
      {t(fault, { currency, example })}
    </p>
  );
}

function AmountField({ view, t }: { view: LinkView; t: T }) {
  const { currency, example, isWhole, typed, fault } = view;
  return (
    <>
      <label class="text" for="amount">
        {t('amount', { currency })}
      </label>
      <input
        type="text"
        id="amount"
        name="amount"
        inputmode={isWhole ? 'numeric' : 'decimal'}
        dir="ltr"
        autocomplete="off"
        required
        maxLength={TYPED_MAX}
        aria-describedby={fault === null ? 'example' : 'fault'}
        aria-invalid={fault === null ? undefined : 'true'}
        value={typed}
      />
      {/* The fault names the example, too. */}
      {fault === null ? (
        <p class="quiet small" id="example">
          {t('example', { example })}
        </p>
      ) : (
        <Fault view={view} t={t} />
      )}
    </>
  );
}

/** What is paid for, how much, and one button; without script. */
export function linkSheet(view: LinkView): Sheet {
  const { language, storeName, description, price, once } = view;
  const t = translatorOf('link', language);
  const title = t('title', { store: storeName });
  return storeSheet(
    view,
    title,
    <section class="card">
      <h1>{title}</h1>
      {description === null ? null : (
        <p>
          <bdi>{description}</bdi>
        </p>
      )}
      <form method="post">
        <input type="hidden" name="once" value={once} />
        {price === null ? (
          <AmountField view={view} t={t} />
        ) : (
          <>
            <Price text={price} />
            <Fault view={view} t={t} />
          </>
        )}
        <p class="quiet small">{t('help')}</p>
        <button type="submit">{t('continue')}</button>
      </form>
    </section>,
  );
}

/** A page to print: what a payer scans at a counter. */
export function linkPosterSheet(view: LinkPosterView): Sheet {
  const { language, storeName, description, price, url, qr } = view;
  const t = translatorOf('link', language);
  return storeSheet(
    view,
    t('title', { store: storeName }),
    <section class="card center">
      <h1>{t('scan')}</h1>
      {description === null ? null : (
        <p>
          <bdi>{description}</bdi>
        </p>
      )}
      {price === null ? null : <Price text={price} />}
      <Qr code={qr} label={t('scan_label')} />
      <p class="quiet small" dir="ltr">
        {url}
      </p>
    </section>,
    '../../',
  );
}
