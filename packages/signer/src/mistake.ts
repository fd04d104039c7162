/** What an operator has to mend: a file, a passphrase, a policy. The message is one line that says what to do. */
export class SignerMistake extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}
