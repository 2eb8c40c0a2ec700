import { type EmbeddingsRequest, type Vectors, vectorOf } from '../../wire/embeddings-request.js';
import { invalid, type JsonObject, listOf, numberOf, objectOf, said, textOf } from '../../wire/json.js';

/** What Bedrock's `InvokeModel` takes and gives is each maker's own. */
interface Family {
  readonly write: (request: EmbeddingsRequest) => JsonObject;
  readonly read: (answer: JsonObject) => Vectors | null;
}

/** Texts that Cohere's models take at once. */
const COHERE_TEXTS = 96;

const titan: Family = {
  write: ({ inputs, dimensions }) => {
    if (inputs.length > 1) throw invalid('input', 'this model takes one text at a time');
    return said({ inputText: inputs[0], dimensions });
  },
  read: (answer) => {
    const vector = vectorOf(answer['embedding']);
    return vector === null ? null : { vectors: [vector], promptTokens: numberOf(answer['inputTextTokenCount']) };
  },
};

/**
 * What the texts are for changes the vectors: said by `input_type`, as LiteLLM's callers do; without it they are to be
 * found. How many tokens there were stands in no body.
 */
const cohere: Family = {
  write: ({ inputs, dimensions, body }) => {
    if (inputs.length > COHERE_TEXTS) throw invalid('input', `this model takes ${COHERE_TEXTS} texts at a time`);
    return said({
      texts: inputs,
      input_type: textOf(body['input_type']) ?? 'search_document',
      embedding_types: ['float'],
      output_dimension: dimensions,
    });
  },
  read: (answer) => {
    // Older ones give a list whatever is asked for.
    const given = objectOf(answer['embeddings'])?.['float'] ?? answer['embeddings'];
    const vectors = listOf(given).map(vectorOf);
    return vectors.every((vector) => vector !== null) ? { vectors, promptTokens: null } : null;
  },
};

/** `null`: this model gives none that can be asked for here. Profiles of regions stand before the maker's name. */
export function embeddingFamilyOf(model: string): Family | null {
  if (model.includes('amazon.titan-embed-text')) return titan;
  return model.includes('cohere.embed') ? cohere : null;
}
