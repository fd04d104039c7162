import type { Options } from 'minisearch';

/** A piece of a page, as the search finds it. */
export interface Section {
  /** Its address. */
  id: string;
  title: string;
  heading: string;
  text: string;
  excerpt: string;
}

/** Those that make the index and those that search it have to have the same. */
export const SEARCH_OPTIONS: Options<Section> = {
  fields: ['title', 'heading', 'text'],
  storeFields: ['title', 'heading', 'excerpt'],
  searchOptions: { boost: { title: 3, heading: 2 }, prefix: true, fuzzy: 0.15, combineWith: 'AND' },
};
