/** The environment of the pages' server, read once. */
export const SERVER_ENVIRONMENT: Readonly<Record<string, string | undefined>> = process.env;
