import { sayFrom } from '../../checkout/index.ts';
import ar from './locales/ar.json' with { type: 'json' };
import en from './locales/en.json' with { type: 'json' };
import es from './locales/es.json' with { type: 'json' };

export type Word = keyof typeof en;

/** A text of the pages of subscriptions. */
export const say = sayFrom<Word>({ en, es, ar });
