import { type EmbeddingsRequest, type Vectors, vectorOf } from '../../wire/embeddings-request.js';
import { type JsonObject, listOf, numberOf, objectOf, said } from '../../wire/json.js';

/**
 * Gemini's `batchEmbedContents`: each text is a request of its own, with the model's name once more. @param model
 * `models/…`.
 */
export function geminiEmbeddings({ inputs, dimensions }: EmbeddingsRequest, model: string): JsonObject {
  return {
    requests: inputs.map((text) => said({ model, content: { parts: [{ text }] }, outputDimensionality: dimensions })),
  };
}

export function readGeminiEmbeddings(answer: JsonObject): Vectors | null {
  const vectors = listOf(answer['embeddings']).map((one) => vectorOf(objectOf(one)?.['values']));
  if (!vectors.every((vector) => vector !== null)) return null;
  return { vectors, promptTokens: numberOf(objectOf(answer['usageMetadata'])?.['promptTokenCount']) };
}
