import { Note, type Tone } from '../design/parts.tsx';
import type { PageNotice } from '../views/checkout.ts';
import type { Page } from './context.ts';

const TONES: Record<PageNotice['code'], Tone> = {
  underpaid: 'warn',
  overpaid: 'good',
  wrong_token: 'warn',
  unlisted: 'warn',
  late: 'warn',
  incomplete: 'warn',
  not_needed: 'warn',
  vanished: 'warn',
  no_rate: 'warn',
};

/** A notice in words: its heading, and what it means. */
export function wordsOf(notice: PageNotice, { t, view }: Page): [string, string] {
  const { code, ...values } = notice;
  return [t(`notice_${code}`), t(`notice_${code}_text`, { ...values, store: view.storeName })];
}

export function Notices({ page }: { page: Page }) {
  return (
    <>
      {page.view.notices.map((notice, i) => {
        const [heading, text] = wordsOf(notice, page);
        return (
          <Note tone={TONES[notice.code]} title={heading} key={`${notice.code}${i}`}>
            {text}
          </Note>
        );
      })}
    </>
  );
}
