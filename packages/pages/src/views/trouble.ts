import type { PageLanguage } from './languages.ts';

/** What went wrong; each kind has a title and a text in the catalogue's `trouble`. */
export type TroubleKind = 'missing' | 'forbidden' | 'refused' | 'busy' | 'away' | 'broken';

/** An error of a page, for browsers. */
export interface TroubleView {
  page: 'trouble';
  language: PageLanguage;
  kind: TroubleKind;
  /** What exactly was refused, in English; null where it would say no more than the kind. */
  detail: string | null;
  requestId: string;
}
