export function markPure(file: string, text: string): string;
