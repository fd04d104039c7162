import { sayFrom } from '../page/say.ts';
import ar from './locales/ar.json' with { type: 'json' };
import en from './locales/en.json' with { type: 'json' };
import es from './locales/es.json' with { type: 'json' };

export type Word = keyof typeof en;

/** A text of a link's page. */
export const say = sayFrom<Word>({ en, es, ar });
