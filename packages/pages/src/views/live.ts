/** Of every page with a list that its script renews. */
export interface LiveView {
  /** Where its script is served. */
  scriptPath: string;
  /** Where its script reads the list. */
  listPath: string;
}
