import type { PageNotice } from '@florin/contract/checkout-page';
import type { Page } from './context.ts';

const CLASS: Record<PageNotice['code'], string> = {
  underpaid: 'warn',
  overpaid: 'good',
  wrong_token: 'warn',
  unlisted: 'warn',
  late: 'good',
  incomplete: 'warn',
  not_needed: 'good',
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
          <div class={`note ${CLASS[notice.code]}`} key={`${notice.code}${i}`}>
            <b>{heading}</b>
            {text}
          </div>
        );
      })}
    </>
  );
}
