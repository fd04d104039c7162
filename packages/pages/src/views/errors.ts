/** An error code of the API, explained. In English. */
export interface ErrorView {
  page: 'error';
  code: string;
  status: number;
  title: string;
  cause: string;
  advice: string;
}

/** All error codes. In English. */
export interface ErrorListView {
  page: 'error_list';
  errors: readonly { code: string; status: number; title: string }[];
}
