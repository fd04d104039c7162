/** The way to the service's own address from a page whose path has two parts, such as `/pay/{token}`. */
export const ROOT = '../';
